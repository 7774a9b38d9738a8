"""Pairs of claims, old and new, that contradict each other, by reason code."""

import pytest

from hydramind_domain.claims import analyse_claim, slot_terms
from hydramind_domain.conflict import REASON_CODES, BuiltinClassifier, Verdict

CONTRADICTIONS = {
    "value_number": """
Billing listens on port 8080. | Billing listens on port 9090.
The read cap is 3.3k ops/s. | The read cap is 9k ops/s.
The read cap is 3.3k ops/s. | We raised the read cap to 9k ops/s.
The cache is 1 GiB. | The cache is 1 GB.
The API timeout is 30s. | The API timeout is 60 seconds.
Auth tokens expire after 15 minutes. | Auth tokens expire after 1 hour.
Bob has two kids. | Bob has three kids.
Two replicas are required. | Three replicas are required.
Logs are retained for 30 days. | Logs are retained for 90 days.
The max upload size is 10 MB. | The max upload size is 25 MB.
The service listens on 8080. | The service listens on 9090.
The service runs on port 8080. | The service now runs on port 9090.
The API gateway's port is 8080. | The API gateway's port was changed to 9090.
Node version: 18 | Node version: 20
The default timeout is 30 seconds. | The default timeout is 45 seconds.
The write cap is 500 rps. | The write cap is 2000 rps.
Max retries: 3 | Max retries: 5
The cache TTL is 90 min. | The cache TTL is 2 h.
The pool size is 10. | The pool size is 20.
The heap limit is 1 GiB. | The heap limit is 1 GB.
Memory usage is capped at 512 MB. | Memory usage is capped at 1 GB.
The price is $20. | The price is $25.
The cluster has 3 nodes. | The cluster has 5 nodes.
Use 2 spaces for indentation. | Use 4 spaces for indentation.
Line length is 80. | Line length is 120.
The limit is ten requests per second. | The limit is 20 requests per second.
api-gateway listens on port 8080 | api-gateway listens on port 9090
`api-gateway` port is 8080. | `api-gateway` port is 9090.
The read capacity is 3.3k ops/s. | The read capacity is 9k ops/s.
Peak throughput is 3.3k ops/s. | Peak throughput is 9k ops/s.
Read cap: 3.3k ops/s | Read cap: 9k ops/s
read cap is 3.3k ops/s | read cap is 9k ops/s
The job takes 90 min. | The job takes 2 h.
The job runs for 90 min. | The job runs for 3 hours.
The build takes 5 minutes. | The build takes 12 minutes.
Each pod gets 2 CPUs. | Each pod gets 4 CPUs.
Each pod has 512 MB of memory. | Each pod has 1 GB of memory.
The rate limit is 100 requests per minute. | The rate limit is 500 requests per minute.
JWTs are valid for 1 hour. | JWTs are valid for 24 hours.
Passwords must have at least 8 characters. | Passwords must have at least 12 characters.
There are 3 environments. | There are 4 environments.
Grace is 34 years old. | Grace is 35 years old.
The maximum batch size is 100. | The maximum batch size is 250.
Our SLA is 99.9%. | Our SLA is 99.5%.
The quota is 10 GB per user. | The quota is 20 GB per user.
The build runs on Node 18. | The build runs on Node 20.
The retention period is 7 days. | The retention period is 2 weeks.
The retention is one week. | The retention is 14 days.
The API rate limit is 100/min. | The API rate limit is 200/min.
The response time is 200ms. | The response time is 350ms.
The temperature is 20 °C. | The temperature is 25 °C.
The distance is 5 km. | The distance is 3 miles.
The retry delay is 1.5 s. | The retry delay is 150 ms.
Set the timeout to 30 seconds. | Set the timeout to 60 seconds.
Keep logs for 30 days. | Keep logs for 60 days.
I have two sisters. | I have three sisters.
The port was changed to 8080. | The port is 9090.
The port was changed to 8080. | The port was changed to 9090.
""",
    "value_date": """
The deadline is 2026-03-01. | The deadline is 15 March 2026.
The deadline is 2026-03-01. | The deadline moved to 15 March.
The standup is at 9:30. | The standup is at 10am.
The release is scheduled for March 3. | The release was postponed to March 10.
The release date is 2026-03-03. | The release date slipped to 2026-03-10.
Backups run at 02:00. | Backups run at 04:00.
The conference is on 1 March 2026. | The conference is on 2026-03-08.
Deploys happen on Tuesdays. | Deploys happen on Thursdays.
Alice was born on 1990-05-01. | Alice was born on 1991-05-01.
The project deadline is June 1. | The project deadline is now June 15.
The deadline for the audit is June 1. | The deadline for the audit has moved to June 15.
The kickoff is on 2026-03-01. | The kickoff is on 2 March 2026.
We ship on Thursdays. | Actually, we ship on Fridays.
Grace's birthday is May 4. | Grace's birthday is June 4.
The standup is at 9am. | The standup moved to 10am.
The launch date is May 5, 2026. | The launch date is 2026-05-12.
My birthday is on 3 May. | My birthday is on 4 May.
The deadline was moved to May 3. | The deadline was moved to May 10.
""",
    "value_version": """
The API version is v1.2. | The API version is v1.10.
Service requires Python 3.10. | Service requires Python 3.12.
The service uses Python 3.10. | The service uses Python 3.12.
We are on version 2.3.1. | We are on version 2.4.0.
Feature X ships in v2.1. | Feature X ships in v2.2.
The current version is 1.4.2. | The current version is 1.5.0.
hydramind version is 1.4.2. | hydramind version is 2.0.0.
Library requests is at version 2.28. | Library requests is at version 2.31.
The service runs Python 3.9. | The service runs Python 3.12.
The library version is v1.2. | The library version is v1.10.
hydradb v1.2 is installed. | hydradb v1.10 is installed.
""",
    "value_name": """
Alice lives in Paris. | Alice moved to Berlin.
Alice is assigned to project Apollo. | Alice is now assigned to project Zeus.
The owner of billing is Alice. | The owner of billing is Bob.
Alice owns the billing service. | Bob now owns the billing service.
The status of the migration is blocked. | The status of the migration is done.
The billing database is MySQL. | The billing database is PostgreSQL.
The default branch is master. | The default branch is main.
The assignee of ticket 12 is Alice. | The assignee of ticket 12 is Bob.
Bob is CTO of Acme. | Carol is the CTO of Acme.
Bob is the CTO of Acme. | Acme's CTO is Carol.
Alice works at Google. | Alice joined Meta.
Billing uses MySQL. | Billing moved to PostgreSQL.
Billing uses MySQL. | Billing uses PostgreSQL.
Billing uses MySQL. | Actually, billing uses PostgreSQL.
Use tabs for indentation. | Use spaces for indentation.
My favorite color is blue. | My favorite color is green.
The meeting is on Monday. | The meeting is on Tuesday.
The staging server is in Frankfurt. | The staging server is in Dublin.
She works at Google. | She works at Meta.
Billing is owned by Alice. | Billing is owned by Bob.
The cluster runs in eu-west-1. | The cluster moved to us-east-1.
The payments service is owned by Alice. | The payments service is owned by Bob.
Alice is the owner of the payments service. | Bob is now the owner of the payments service.
The assignee is Alice. | The assignee is now Bob.
PR 17 is assigned to Alice. | PR 17 is now assigned to Bob.
The release is due on Friday. | The release is due on Monday.
The main branch is master. | The main branch was renamed to main.
Alice's manager is Carol. | Alice's manager is Dave.
Alice reports to Carol. | Alice reports to Dave.
Alice is based in London. | Alice is based in Tokyo.
Alice's employer is Google. | Alice's employer is Meta.
Alice is employed by Google. | Alice is employed by Meta.
Alice works for Google. | Alice works for Meta now.
The default region is us-east-1. | The default region is eu-west-1.
The team lead is Alice. | The team lead is Bob.
Alice leads the platform team. | Bob leads the platform team.
Sam is the CEO of Initech. | Pat became the CEO of Initech.
The CI system is Jenkins. | The CI system is GitHub Actions.
We use Jenkins for CI. | We migrated to GitHub Actions for CI.
Auth uses OAuth. | Auth uses SAML.
The frontend is written in React. | The frontend is written in Vue.
The project is licensed under MIT. | The project is licensed under Apache-2.0.
Backups run daily. | Backups run weekly.
The database is Postgres. | Actually, the database is MySQL.
The staging URL is https://a.example.com. | The staging URL is https://b.example.com.
The staging host is 10.0.0.1. | The staging host is 10.0.0.2.
The config file is config.yaml. | The config file is settings.toml.
The office is in Berlin. | The office moved to Munich.
Carol lives in Lyon with her family. | Carol moved to Nantes.
She is assigned to project Apollo. | She is now assigned to project Hermes.
Carol is assigned to Apollo. | Carol was reassigned to Hermes.
The on-call engineer is Alice. | The on-call engineer is Bob.
Checkout is written in Go. | Checkout was rewritten in Rust.
Checkout stores orders in MySQL. | Checkout stores orders in PostgreSQL.
Alice is assigned to the Apollo project. | Alice is now assigned to the Zeus project.
Ticket 42 is in progress. | Ticket 42 is done.
The status of deploy 7 is pending. | The status of deploy 7 is now approved.
The primary database is Postgres. | The primary database is now MySQL.
The service's database is Postgres. | The service switched to MySQL.
Jane lives in New York. | Jane moved to San Francisco.
Jane lives in New York City. | Jane now lives in Chicago.
Jane's address is 12 Main St. | Jane's address is 99 Oak Ave.
The CTO of Acme is Bob. | The CTO of Acme is Carol.
Bob is the leader of the infra team. | Carol is the leader of the infra team.
Bob leads infra. | Carol leads infra.
Our default branch is master | Our default branch is main
Default model is gpt-4. | Default model is claude-3.
We upgraded to Django 4. | We upgraded to Django 5.
Alice is employed at Google. | Alice is employed at Meta.
Actually, the deploy target is Frankfurt. | The deploy target is Dublin.
The deploy target is Dublin. | Actually, the deploy target is Frankfurt.
The deploy target is Dublin. | Actually the deploy target is Frankfurt.
The deploy target is Dublin. | The deploy target is actually Frankfurt.
The API is written in Go. | The API is written in Rust.
The linter is ruff. | The linter is flake8.
The owner of the deploy policy is Alice. | The owner of the deploy policy is Bob.
The config lives in config.yaml. | The config lives in settings.toml.
Logs go to stdout. | Logs go to stderr.
Postgres runs on db-1. | Postgres runs on db-2.
Grace's favorite food is pizza. | Grace's favorite food is sushi.
Our on-call rotation is weekly. | Our on-call rotation is daily.
The assigned reviewer is Bob. | The assigned reviewer is Eve.
The demo is on Thursday. | The demo moved to Friday.
Emma lives in Rome. | Emma relocated to Madrid.
Emma moved to Rome. | Emma moved to Madrid.
Emma resides in Rome. | Emma lives in Madrid.
Emma works at Stripe. | Emma is employed by Shopify.
Emma's job title is engineer. | Emma's job title is manager.
The default shell is bash. | The default shell is zsh.
The timezone is UTC. | The timezone is CET.
The compiler is gcc. | The compiler is clang.
The license is MIT. | The license is Apache-2.0.
The package manager is npm. | The package manager is pnpm.
The project uses npm. | The project uses pnpm.
We host on AWS. | We moved to GCP.
Our cloud provider is AWS. | Our cloud provider is Azure.
The cache backend is Redis. | The cache backend is Memcached.
Sessions are stored in Redis. | Sessions are stored in Memcached.
User's name is Sam. | User's name is Max.
My name is Sam. | My name is Max.
I live in Berlin. | I moved to Hamburg.
I work at Siemens. | I now work at Bosch.
Alice is Bob's manager. | Carol is Bob's manager.
Alice is Bob's wife. | Carol is Bob's wife.
Alice is the mayor of Springfield. | Dan is the mayor of Springfield.
The capital of Australia is Sydney. | The capital of Australia is Canberra.
The meeting room is Saturn. | The meeting room is Jupiter.
The keyboard layout is QWERTY. | The keyboard layout is Dvorak.
The flag is red. | The flag is blue.
Emma moved to Rome. | Emma lives in Madrid.
Emma lives in Madrid. | Emma moved to Rome.
Carol was assigned to Apollo. | Carol is assigned to Hermes.
We adopted pytest. | We adopted unittest.
Dana joined Initech. | Dana works at Globex.
""",
    "negation": """
Production deploys must always use direct routing. | Production deploys must not use direct routing.
Alice works at Google. | Alice no longer works at Google.
Billing uses MySQL. | Billing no longer uses MySQL.
Deploys need approval. | Deploys do not need approval.
Agents may push to main. | Agents must not push to main.
Tests run in parallel. | Tests do not run in parallel.
Alice is vegetarian. | Alice is not vegetarian.
Never commit to main. | Always commit to main.
Do not use eval in templates. | Use eval in templates.
The API requires authentication. | The API does not require authentication.
The docs are outdated. | The docs are not outdated.
We use MySQL. | We no longer use MySQL.
Billing calls the ledger API. | Billing no longer calls the ledger API.
Alice is on the platform team. | Alice is no longer on the platform team.
Alice works at Google. | Alice doesn't work at Google anymore.
Agents must run tests before pushing. | Agents must not run tests before pushing.
Always squash commits. | Never squash commits.
You should use tabs. | You should not use tabs.
Rate limiting is per user. | Rate limiting is not per user.
The user likes verbose output. | The user doesn't like verbose output.
The app uses moment.js. | The app no longer uses moment.js.
Alice is no longer the owner of billing. | Alice is the owner of billing.
Alice is the owner of billing. | Alice is no longer the owner of billing.
The cron job no longer runs. | The cron job runs.
Secrets must be stored in Vault. | Secrets must never be stored in Vault.
All commits must be signed. | Commits must not be signed.
Commits must be signed. | Commits need not be signed.
It is not true that billing uses MySQL. | Billing uses MySQL.
Feature flags are stored in Redis. | Feature flags are not stored in Redis.
The cache is in memory. | The cache is not in memory.
Use snake_case for file names. | Do not use snake_case for file names.
Don't push to main. | Push to main.
Alice is the maintainer of the parser. | Alice is not the maintainer of the parser.
Deploys are blocked. | Deploys are not blocked.
The feature is released. | The feature is not released.
Emma drives a Volvo. | Emma no longer drives a Volvo.
Emma is a member of the gym. | Emma is no longer a member of the gym.
The invoice was sent to Bob. | The invoice was not sent to Bob.
The plan includes backups. | The plan does not include backups.
Guests can upload files. | Guests cannot upload files.
Guests are allowed to upload files. | Guests are not allowed to upload files.
Config is loaded from env vars. | Config is not loaded from env vars.
Never deploy on Fridays. | Deploy on Fridays.
Do not use global state. | Use global state.
We always rebase. | We never rebase.
The team uses trunk-based development. | The team does not use trunk-based development.
Users authenticate with SAML. | Users no longer authenticate with SAML.
I am vegetarian. | I am not vegetarian anymore.
I am vegan. | I am no longer vegan.
I have a dog. | I don't have a dog.
I'm allergic to peanuts. | I'm not allergic to peanuts.
I play the guitar. | I stopped playing the guitar.
We stopped using Docker. | We use Docker.
We use Docker. | We stopped using Docker.
We no longer support IE11. | We support IE11.
Module auth depends on redis. | Module auth does not depend on redis.
The endpoint returns XML. | The endpoint does not return XML.
""",
    "antonym": """
The API is public. | The API is private.
Debug logging is on. | Debug logging is off.
I prefer dark mode. | I prefer light mode.
Tom is alive. | Tom is dead.
The migration is complete. | The migration is incomplete.
Logging is synchronous. | Logging is asynchronous.
The endpoint is public. | The endpoint is internal.
Incident 7 is resolved. | Incident 7 is unresolved.
The server is up. | The server is down.
The PR is open. | The PR was merged.
User prefers dark theme. | User prefers light theme.
Direct routing is mandatory. | Direct routing is optional.
Emails are sent synchronously. | Emails are sent asynchronously.
The staging environment is down. | The staging environment is up.
Grace is single. | Grace is married.
The repository is archived. | The repository is active.
The service is healthy. | The service is unhealthy.
The invoice is paid. | The invoice is unpaid.
The lights are on. | The lights are off.
The car is new. | The car is old.
The task is easy. | The task is difficult.
The bridge is safe. | The bridge is dangerous.
""",
    "state_change": """
Alice works at Google. | Alice left Google.
Alice works at Google as an engineer. | Alice left Google last month.
Alice owns a Tesla. | Alice sold the Tesla.
The config has a retry flag. | We removed the retry flag from the config.
Caching is enabled. | Caching was disabled.
Caching is enabled. | We disabled caching.
Issue 42 is open. | Issue 42 was closed.
Billing uses MySQL. | We replaced MySQL with PostgreSQL in billing.
Billing uses MySQL. | Replaced MySQL with PostgreSQL.
Use pip for installs. | Use uv, not pip, for installs.
The build is broken. | The build is passing.
The feature flag dark_mode is enabled. | The feature flag dark_mode is disabled.
Alice is married. | Alice is divorced.
We use Jenkins for CI. | We switched from Jenkins to GitHub Actions.
Carol owns a bakery. | Carol sold the bakery.
Carol owns a house in Porto. | Carol sold her house in Porto.
Dave has a dog. | Dave gave away the dog.
Redis is enabled in production. | Redis is disabled in production.
The ticket is open. | The ticket is closed.
Ticket 99 is open. | Ticket 99 has been closed.
The feature is supported. | The feature was deprecated.
Retries are enabled. | We turned off retries.
The firewall allows port 22. | The firewall blocks port 22.
The gateway accepts HTTP. | The gateway rejects HTTP.
Sessions are stored in Redis. | We replaced Redis with Valkey.
We use yarn. | We replaced yarn with pnpm.
The gateway is nginx. | nginx was replaced by Caddy.
We use Slack. | We dropped Slack.
Alice works at Google. | Alice quit her job at Google.
Alice works at Google. | Alice resigned from Google.
Bob is married to Eve. | Bob divorced Eve.
Bob and Eve are married. | Bob and Eve are divorced.
The login page is broken. | The login page works.
The test suite passes. | The test suite fails.
Tests are passing. | Tests are failing.
The door is locked. | The door is unlocked.
Ticket 42 has status open. | Ticket 42 has status closed.
Ticket 42 status: open | Ticket 42 status: closed
Maria sold her car. | Maria owns a car.
Maria owns a car. | Maria sold her car.
Tom sold the boat. | Tom still owns the boat.
Mark left Netflix. | Mark works at Netflix.
Mark works at Netflix. | Mark has left Netflix.
The repo contains a Makefile. | The Makefile was removed from the repo.
The API has a v1 endpoint. | The v1 endpoint was removed from the API.
Two-factor auth is enabled. | Two-factor auth is disabled.
Two-factor auth is enabled for admins. | Two-factor auth is disabled for admins.
The store is open on Sundays. | The store is closed on Sundays.
The PR is open. | The PR is closed.
The app uses Redis for sessions. | We replaced Redis with Memcached for sessions.
The app uses Redis for sessions. | The app replaced Redis with Memcached.
The app uses moment.js. | We replaced moment.js with date-fns.
The app uses moment.js. | moment.js has been replaced with date-fns.
Direct routing is allowed. | Direct routing is forbidden.
Emma owns a cat. | Emma gave her cat away.
The window is open. | The window is shut.
Access is granted. | Access is denied.
The account is active. | The account was deactivated.
The account is active. | The account has been suspended.
The trial includes support. | The trial excludes support.
I work at Siemens. | I left Siemens.
We support IE11. | We dropped support for IE11.
""",
    "converse": """
Alice manages Bob. | Alice reports to Bob.
Migrations run before deploys. | Migrations run after deploys.
""",
    "preference": """
I love Chinese food. | I hate Chinese food.
I love Chinese food. | I don't like Chinese food.
Alice likes sushi. | Alice dislikes sushi.
Alice prefers tabs over spaces. | Alice prefers spaces over tabs.
Alice likes coffee. | Alice hates coffee.
I like pair programming. | I can't stand pair programming.
I enjoy hiking. | I dislike hiking.
Bob prefers tea over coffee. | Bob prefers coffee over tea.
I love jazz. | I hate jazz.
I love jazz music. | I really hate jazz music.
She loves spicy food. | She hates spicy food.
User prefers tabs. | User prefers spaces.
The user likes verbose output. | The user dislikes verbose output.
I like cilantro. | I don't like cilantro.
I don't like cilantro. | I like cilantro.
I prefer Python to Java. | I prefer Java to Python.
""",
    "correction": """
We deploy on Mondays. | Scratch that, we deploy on Fridays.
The port is 8080. | Correction: the port is 9090.
We use Redis for caching. | I changed my mind about Redis, we use Memcached for caching.
The owner is Alice. | That's wrong: the owner is Bob.
Our logger is structlog. | Correction: our logger is loguru.
The queue is Kafka. | Scratch that, the queue is RabbitMQ.
We deploy from main. | No, that's wrong. We deploy from release.
We write tests with unittest. | I changed my mind: we write tests with pytest.
The retry limit is 3. | That's wrong, the retry limit is 5.
The team meets on Zoom. | Correction: the team meets on Teams.
The team meets on Zoom. | Correction - the team meets on Teams.
Use black for formatting. | Scratch that, use ruff for formatting.
Use black for formatting. | Scratch that. Use ruff for formatting.
We use black for formatting. | I changed my mind, we use ruff for formatting.
Build with webpack. | Changed my mind: build with vite.
The logo is blue. | That's wrong, the logo is green.
The logo is blue. | That's wrong. The logo is green.
The logo is blue. | That is not right, the logo is green.
""",
}


def rows(block: str) -> list[tuple[str, str]]:
    return [tuple(part.strip() for part in line.split(" | ")) for line in block.strip().splitlines()]


def judge(old: str, new: str) -> Verdict | None:
    return BuiltinClassifier().classify(analyse_claim(new), analyse_claim(old))


@pytest.mark.parametrize(
    ("code", "old", "new"), [(code, *pair) for code, block in CONTRADICTIONS.items() for pair in rows(block)]
)
def test_contradicting_claims_get_a_verdict_with_its_reason_code_and_spans(code: str, old: str, new: str):
    verdict = judge(old, new)
    assert verdict is not None
    assert verdict.reason_code == code
    assert code in REASON_CODES
    assert verdict.reason
    assert 0 <= verdict.new_start < verdict.new_end <= len(new)
    assert 0 <= verdict.old_start < verdict.old_end <= len(old)


@pytest.mark.parametrize(("old", "new"), [pair for block in CONTRADICTIONS.values() for pair in rows(block)])
def test_claims_that_contradict_share_a_slot_term(old: str, new: str):
    assert set(slot_terms(analyse_claim(old))) & set(slot_terms(analyse_claim(new)))


@pytest.mark.parametrize("content", [text for block in CONTRADICTIONS.values() for pair in rows(block) for text in pair])
def test_no_claim_contradicts_itself(content: str):
    assert judge(content, content) is None
