-- Schema 1. Tables marked (record) cannot be derived; the others are derived from log + contents and can be rebuilt.
-- Integers named *_at are microseconds since the epoch; *_seq are commit sequences. Status codes: stores/codes.py.

CREATE TABLE meta(                    -- (record) store id, missing sequences, files set aside
  name TEXT PRIMARY KEY,
  value ANY
) STRICT, WITHOUT ROWID;

CREATE TABLE log(                     -- (record) one row a commit; plan without contents
  seq INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  scope INTEGER NOT NULL,
  method TEXT NOT NULL,
  actor TEXT NOT NULL,
  last_key INTEGER NOT NULL,          -- largest memory key after this commit
  idem_key TEXT,
  request_hash BLOB,
  outcome BLOB,
  plan BLOB NOT NULL                  -- plan_codec, deflated when large (stores/packing.py)
) STRICT;
CREATE INDEX log_at ON log(at);
CREATE UNIQUE INDEX log_idem ON log(scope, method, idem_key) WHERE idem_key IS NOT NULL;

CREATE TABLE projects(                -- (record) project folder -> scope
  root TEXT PRIMARY KEY,
  scope TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX projects_scope ON projects(scope);

CREATE TABLE scopes(                  -- (record: id, name) counters are derived
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  written INTEGER NOT NULL DEFAULT 0, -- memories ever written; the ordinal of the newest
  counted_block INTEGER NOT NULL DEFAULT 0, -- posting blocks below it are summed up in frequencies
  last_write_at INTEGER,
  active INTEGER NOT NULL DEFAULT 0,
  contradicted INTEGER NOT NULL DEFAULT 0,
  superseded INTEGER NOT NULL DEFAULT 0,
  forgotten INTEGER NOT NULL DEFAULT 0,
  purged INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE memories(                -- (record: content) what never changes, except that purge empties it
  key INTEGER PRIMARY KEY,
  memory_id TEXT NOT NULL UNIQUE,
  scope INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  created_seq INTEGER NOT NULL,
  valid_from INTEGER NOT NULL,
  suspicious INTEGER NOT NULL,
  claim_hash BLOB NOT NULL,
  source TEXT NOT NULL,
  actor TEXT NOT NULL,
  entities TEXT NOT NULL,             -- JSON [[entity id, origin code], ...] in the order in which they were linked
  content TEXT NOT NULL
) STRICT;
CREATE INDEX memories_claim ON memories(claim_hash);

CREATE TABLE facts(                   -- the current state, narrow: recall reads nothing else to score
  key INTEGER PRIMARY KEY,
  scope INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,           -- 1-based position of the memory in its scope
  status INTEGER NOT NULL,
  trust REAL NOT NULL,
  valid_from INTEGER NOT NULL,
  valid_to INTEGER,
  version INTEGER NOT NULL,
  support INTEGER NOT NULL,
  length INTEGER NOT NULL,            -- tokens
  slots TEXT NOT NULL,                -- JSON [term id, ...]
  terms BLOB NOT NULL                 -- distinct terms, four self-aligning bytes each (stores/packing.py)
) STRICT;
CREATE INDEX facts_status ON facts(scope, status, key);
CREATE INDEX facts_valid ON facts(scope, valid_from, key);

CREATE TABLE past(                    -- states that were replaced: the state up to, not including, commit until_seq
  key INTEGER NOT NULL,
  until_seq INTEGER NOT NULL,
  status INTEGER NOT NULL,
  trust REAL NOT NULL,
  valid_to INTEGER,
  version INTEGER NOT NULL,
  support INTEGER NOT NULL,
  PRIMARY KEY(key, until_seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE entities(
  id INTEGER PRIMARY KEY,             -- from scope name and norm, so that equal names never bridge scopes
  scope INTEGER NOT NULL,
  norm TEXT NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  created_seq INTEGER NOT NULL,
  memories INTEGER NOT NULL DEFAULT 0 -- current memories about it
) STRICT;
CREATE UNIQUE INDEX entities_norm ON entities(scope, norm);

CREATE TABLE about(
  entity INTEGER NOT NULL,
  key INTEGER NOT NULL,
  PRIMARY KEY(entity, key DESC)
) STRICT, WITHOUT ROWID;

CREATE TABLE derived(
  parent INTEGER NOT NULL,
  child INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY(parent, child)
) STRICT, WITHOUT ROWID;
CREATE INDEX derived_child ON derived(child, parent);

CREATE TABLE contradicts(
  newer INTEGER NOT NULL,
  older INTEGER NOT NULL,
  scope INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  at INTEGER NOT NULL,
  reason_code TEXT NOT NULL,
  reason TEXT NOT NULL,
  new_start INTEGER NOT NULL,
  new_end INTEGER NOT NULL,
  old_start INTEGER NOT NULL,
  old_end INTEGER NOT NULL,
  before REAL NOT NULL,
  after REAL NOT NULL,
  ended_seq INTEGER,                  -- commit that withdrew its hop-0 drop; NULL while it stands
  verdict TEXT NOT NULL DEFAULT '',
  PRIMARY KEY(newer, older)
) STRICT, WITHOUT ROWID;
CREATE INDEX contradicts_older ON contradicts(older, newer);
CREATE INDEX contradicts_scope ON contradicts(scope, seq);
CREATE INDEX contradicts_standing ON contradicts(scope, seq) WHERE ended_seq IS NULL;

CREATE TABLE superseded(
  old INTEGER PRIMARY KEY,
  new INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  at INTEGER NOT NULL,
  reason TEXT NOT NULL
) STRICT;
CREATE INDEX superseded_new ON superseded(new);

CREATE TABLE drops(
  id INTEGER PRIMARY KEY,
  cause INTEGER NOT NULL,
  memory INTEGER NOT NULL,
  hop INTEGER NOT NULL,
  amount REAL NOT NULL,
  before REAL NOT NULL,
  after REAL NOT NULL,
  reason TEXT NOT NULL,
  at INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  withdrawn_seq INTEGER,
  withdrawn_at INTEGER,
  withdrawn_reason TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX drops_memory ON drops(memory, seq);
CREATE INDEX drops_cause ON drops(cause, hop, memory);

CREATE TABLE cascades(
  cause INTEGER PRIMARY KEY,
  opened_seq INTEGER NOT NULL,
  closed_seq INTEGER
) STRICT;
CREATE INDEX cascades_open ON cascades(opened_seq, cause) WHERE closed_seq IS NULL;

CREATE TABLE events(
  seq INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  scope INTEGER NOT NULL,
  memory INTEGER NOT NULL,
  other INTEGER,
  kind TEXT NOT NULL,
  before REAL NOT NULL,
  after REAL NOT NULL,
  status INTEGER NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY(seq, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX events_memory ON events(memory, seq, ordinal);

CREATE TABLE terms(
  id INTEGER PRIMARY KEY,
  term TEXT NOT NULL UNIQUE
) STRICT;

-- Blocks of 1,024 memories of a scope: writes stay inside the newest block's pages, reads walk blocks from the newest.
CREATE TABLE postings(
  scope INTEGER NOT NULL,
  block INTEGER NOT NULL,
  term INTEGER NOT NULL,
  key INTEGER NOT NULL,
  PRIMARY KEY(scope, block, term, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE frequencies(             -- memories that hold the term, in the blocks below scopes.counted_block
  scope INTEGER NOT NULL,
  term INTEGER NOT NULL,
  memories INTEGER NOT NULL,
  PRIMARY KEY(scope, term)
) STRICT, WITHOUT ROWID;

CREATE TABLE slots(                   -- candidates of the conflict check: active memories only
  entity INTEGER NOT NULL,
  term INTEGER NOT NULL,
  key INTEGER NOT NULL,
  PRIMARY KEY(entity, term, key DESC)
) STRICT, WITHOUT ROWID;
