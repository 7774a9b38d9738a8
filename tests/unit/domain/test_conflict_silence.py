"""Pairs of claims that can both hold, whichever came first."""

import pytest

from hydramind_domain.claims import analyse_claim
from hydramind_domain.conflict import BuiltinClassifier, Verdict

COMPATIBLE = """
Bob is CTO of Acme. | Bob administers Acme's GitHub org.
Bob is CTO of Acme. | Bob imposed an audit rule.
Bob is CTO of Acme. | Bob is a board member of Acme.
The read cap is 3.3k ops/s. | The read cap is 3300 ops/s.
The job takes 90 min. | The job takes 1.5 h.
The deadline is 2026-03-01. | The deadline is 1 March 2026.
Latency is 20 ms at 128 agents. | Latency is 50 ms at 8 agents.
Throughput holds at 128 agents. | Throughput holds at 8 agents.
In staging, the port is 8080. | In production, the port is 9090.
The staging port is 8080. | The production port is 9090.
Alice reports to Bob. | Bob manages Alice.
Alice depends on Bob. | Bob does not depend on Alice.
Is the port 8080? | The port is 9090.
The port is 8080. | If we redeploy, the port is 9090.
The port is 8080. | Bob said the port is 9090.
The port is 8080. | "The port is 9090"
The owner of billing is Alice. | The owner of search is Bob.
Alice likes sushi. | Alice likes ramen.
Alice speaks French. | Alice speaks German.
Alice has a red bike. | Alice has a blue bike.
The first meeting is on Monday. | The second meeting is on Monday.
The old API is stable. | The new API is stable.
Issue 42 is open. | Issue 43 is open.
Port 8080 is open. | Port 9090 is open.
Bob fixed 3 bugs. | Bob fixed 5 bugs.
Alice owns a Tesla. | Bob owns a Tesla.
Alice visited China. | Alice visited France.
We have an office in China. | We have an office in France.
Billing uses MySQL. | Billing also uses Redis.
Billing uses MySQL. | Search uses PostgreSQL.
Requests take no longer than 5 s. | Requests take 5 s.
Actually, I like it. | I like it.
Billing uses MySQL. | Bob replaced the tire.
The build is fast. | The build is green.
Alice lives in Berlin. | Alice lives in Germany.
The owner is Ana. | The owner is Ana Silva.
Deploys on Monday are frozen. | Deploys on Friday are frozen.
Latency was 20 ms in 2024. | Latency is 50 ms.
Service supports Python 3.11. | Service supports Python 3.12.
The cache doesn't always hit. | The cache hits.
Agents can skip tests. | Agents don't have to skip tests.
The VAT in Germany is 19%. | The VAT in France is 20%.
Tomatoes need full sun. | HNSW needs a large ef.
API version is v1.2. | API version is 1.2.0.
Alice works with Bob from Google. | Alice left Google.
Alice works at Google. | Alice moved to Berlin.
Bob works on billing. | Bob works on search.
Caching is enabled. | Caching is not disabled.
The API is not public. | The API is private.
Alice met Bob on 1 March. | Alice met Bob on 2 March.
Alice is the owner of billing. | Bob is the owner of search.
Only admins can deploy. | Only owners can deploy.
Billing uses MySQL. | Bob reviewed the MySQL guide.
Bob is CTO of Acme. | Bob is an investor in Acme.
Bob is CTO of Acme. | Bob is the CTO of Beta.
Alice maintains billing. | Alice maintains search.
Alice is a member of the platform team. | Alice is a member of the guild.
The timeout is 30 s for reads. | The timeout is 60 s for writes.
The read timeout is 30 s. | The write timeout is 60 s.
On staging the timeout is 30 s. | On production the timeout is 60 s.
For admins the limit is 100. | For guests the limit is 10.
The limit is 100 for admins. | The limit is 10 for guests.
Alice is the on-call engineer this week. | Bob is the on-call engineer next week.
In 2024 the price was $20. | In 2025 the price is $25.
The price was $20 in 2024. | The price is $25 in 2025.
Latency is 20 ms under low load. | Latency is 80 ms under high load.
When idle, the pool size is 1. | When busy, the pool size is 20.
During business hours, deploys are allowed. | At night, deploys are not allowed.
The parser handles JSON. | The parser handles YAML.
The service exposes port 8080. | The service exposes port 9090.
Should we use MySQL? | We use PostgreSQL.
We use MySQL. | Should we use PostgreSQL?
We use MySQL. | What if we used PostgreSQL?
We use MySQL. | We could use PostgreSQL.
We use MySQL. | Maybe we should use PostgreSQL.
We use MySQL. | Suppose we used PostgreSQL.
The port is 8080. | The old README says "the port is 9090".
The port is 8080. | Bob claims that the port is 9090.
The port is 8080. | According to the wiki, the port is 9090.
The port is 8080. | Someone asked whether the port is 9090.
The port is 8080. | If the port is 9090, restart.
The port is 8080. | Imagine the port is 9090.
The port is 8080. | The port was 7070 before the migration.
Alice works at Google. | Alice used to work at Meta.
The cap is 1 KiB. | The cap is 1024 bytes.
The file is 1.5 GB. | The file is 1500 MB.
The rate is 60 requests per minute. | The rate is 1 request per second.
The interval is 120 seconds. | The interval is 2 minutes.
The release is on March 1. | The release is on 2026-03-01.
The release is on 2026-03-01. | The release is on 1st of March 2026.
The version is 1.2. | The version is v1.2.
The meeting is at 2pm. | The meeting is at 14:00.
The price is $2k. | The price is 2,000 dollars.
There are two replicas. | There are 2 replicas.
Coverage is 80%. | Coverage is 80 percent.
The owner is Alice. | The owner is alice.
Alice lives in Paris. | Alice lives in Paris, France.
Alice lives in the US. | Alice lives in the United States.
Actually, the sunset was lovely. | The sunset was red.
Actual usage is 5 GB. | Expected usage is 8 GB.
I replaced the tire on the car. | The car has a tire.
I did not change my mind. | I like tea.
The correction fluid is white. | The paper is yellow.
That's not wrong. | The port is 8080.
Scratch that itch. | The itch is red.
I love Chinese food. | I hate Mexican food.
I love Chinese food. | Bob hates Chinese food.
I like tea. | I like coffee.
Alice sold the bike. | Alice owns a car.
Alice owns a bike. | Bob sold the bike.
The door is open. | The window is closed.
Feature A is enabled. | Feature B is disabled.
Caching is enabled for reads. | Caching is disabled for writes.
Alice left the meeting. | Alice works at Google.
Alice left early. | Alice works at Google.
Bob removed the old banner. | The site has a login form.
The build is green. | The build is fast.
The cat is black. | The dog is white.
Deploy on Fridays is forbidden. | Deploy on Mondays is allowed.
Not all tests pass. | Tests pass.
We don't only use MySQL. | We use MySQL.
Alice is a vegetarian. | Alice is a lawyer.
The first deploy failed. | The second deploy succeeded.
Team A uses MySQL. | Team B uses PostgreSQL.
Alice ran 5 miles. | Alice ran 7 miles.
Deploy 12 took 5 minutes. | Deploy 13 took 9 minutes.
I visited Paris in May. | I visited Rome in June.
The API returns 200 on success. | The API returns 404 on missing items.
Alice speaks English. | Alice speaks Spanish too.
The library supports Linux. | The library supports macOS.
The red button stops the motor. | The green button starts the motor.
Small files are cached. | Large files are not cached.
Reads are fast. | Writes are slow.
Alice is allergic to nuts. | Alice enjoys hiking.
HNSW index uses 16 links. | Tomatoes need 16 hours of sun.
Bob has three cats. | Bob has two dogs.
The team has 5 engineers. | The team has 2 designers.
You must run tests. | You must run linters.
Tests must pass. | Tests may be skipped for docs.
Alice and Bob own billing. | Carol owns search.
Bob is CTO of Acme. | Bob was promoted.
Bob is CTO of Acme. | Bob founded Beta.
Bob is CTO of Acme. | Bob is a mentor at Acme.
Alice works at Google. | Alice is an engineer.
Alice works at Google. | Alice works from home.
Alice works at Google. | Alice visited Google.
Alice lives in Paris. | Alice works in London.
Alice lives in Paris. | Alice was born in London.
Alice lives in Paris. | Alice visited London.
Alice knows Python. | Alice knows Rust.
Billing uses MySQL for orders. | Billing uses PostgreSQL for analytics.
Billing reads from MySQL. | Billing writes to PostgreSQL.
The dev port is 3000. | The prod port is 443.
Port 3000 is used by dev. | Port 443 is used by prod.
Retry 3 times on network errors. | Retry 5 times on lock errors.
At 128 agents latency is 20 ms. | At 8 agents latency is 5 ms.
With 128 agents, latency is 20 ms. | With 8 agents, latency is 5 ms.
p50 latency is 20 ms. | p99 latency is 80 ms.
The p50 is 20 ms. | The p99 is 80 ms.
The limit was 100 until March. | The limit is 200.
Until March the limit is 100. | From April the limit is 200.
As of 2025 the CEO was Pat. | As of 2026 the CEO is Sam.
Bob, as reviewer, may approve. | Bob, as author, may not approve.
Reviewers may merge. | Authors may not merge.
Would it be better if the port were 9090? | The port is 8080.
The port is 8080. | Let's say the port is 9090.
The port is 8080. | Pretend the port is 9090.
The port is 8080. | I wonder if the port is 9090.
The port is 8080. | Is the port 9090?
The port is 8080. | Why is the port not 8080?
The port is 8080. | Alice asked: "is the port 9090?"
The port is 8080. | The error message reads "port is 9090, not 8080".
The port is 8080. | Alice thinks the port is 9090.
The port is 8080. | The port might be 9090.
The port is 8080. | The port could become 9090.
The port is 8080. | We are considering port 9090.
The speed is 100 km/h. | The speed is 100 kilometers per hour.
The download is 8 Mbit. | The download is 1 MB.
The timeout is 500 ms. | The timeout is 0.5 s.
The quota is 1.5k. | The quota is 1500.
The quota is 1,500. | The quota is 1500.
The budget is $1.2M. | The budget is $1,200,000.
The backup runs at 2:30 PM. | The backup runs at 14:30.
Release date: 2026-03-01 | Release date: March 1st, 2026
Release date: 01/03/2026 | Release date: 2026-03-01
The release is v2.0. | The release is 2.0.0.
The weight is 1 kg. | The weight is 1000 g.
The trip takes two weeks. | The trip takes 14 days.
I love Chinese food. | I love Thai food.
I love Chinese food. | My sister hates Chinese food.
I love dogs. | I hate cats.
Alice likes tea. | Bob dislikes tea.
The frontend is fast. | The backend is slow.
Login is enabled. | Signup is disabled.
Old invoices are archived. | New invoices are not archived.
Weekday deploys are allowed. | Weekend deploys are forbidden.
Alice sold her car. | Bob bought a car.
Alice sold her car. | Alice owns a house.
Bob removed a comment. | The repo has tests.
Carol opened the ticket. | Carol closed the door.
The door is closed. | The ticket is open.
Tomatoes are red. | HNSW is fast.
The sky is blue. | Grass is green.
The trial lasted 3 days. | The training lasted 5 days.
We hired 3 people in May. | We hired 5 people in June.
Bug 12 was fixed. | Bug 13 is not fixed.
Chapter 3 covers indexes. | Chapter 4 covers locks.
v1 uses REST. | v2 uses gRPC.
API v1 is deprecated. | API v2 is supported.
Python 2 is unsupported. | Python 3 is supported.
The US office is open. | The UK office is closed.
Customers in Germany pay 19%. | Customers in France pay 20%.
Team Red uses Jira. | Team Blue uses Linear.
We evaluated MySQL. | We use PostgreSQL.
We tested Redis. | We use Memcached.
Actually, we had pizza. | We had a meeting.
I actually like the new design. | I like the old logo.
The correction was published. | The article was long.
Bob changed his mind about lunch. | Bob likes pizza.
It takes no longer than a minute. | It takes a minute.
We replaced the keyboard with a new one. | The keyboard is black.
That's wrong on many levels. | The port is 8080.
The answer is not wrong. | The answer is long.
Nobody works on Sunday. | Alice works on Monday.
The service depends on auth. | Auth depends on the database.
A calls B. | B calls A.
Alice mentors Bob. | Bob mentors Carol.
Alice is older than Bob. | Bob is younger than Alice.
Not every deploy needs approval. | Deploys need approval.
Some tests are flaky. | Tests are not flaky.
Most users like it. | Some users hate it.
Alice bought a bike. | Alice sold a bike to Bob in 2020.
He was sad yesterday. | He is happy today.
The maximum batch size is 100. | The minimum batch size is 10.
The retention period is 7 days. | The retention period is one week.
The standup is at 9am. | The standup is at 09:00.
Emma lives in Rome. | Emma visited Madrid.
Emma lives in Rome. | Emma's brother lives in Madrid.
Emma works at Stripe. | Emma consults for Shopify.
Emma drives a Volvo. | Emma drives a truck too.
I live in Berlin. | My parents live in Hamburg.
I work at Siemens. | My wife works at Bosch.
I have a dog. | I have a cat.
I have two sisters. | I have three brothers.
I like cilantro. | I like parsley.
The window is open. | The door is shut.
The API returns JSON. | The API returns XML for legacy clients.
Guests can upload files. | Guests cannot delete files.
Guests cannot upload files. | Admins can upload files.
Deploys are blocked on Friday. | Deploys are not blocked on Monday.
The service is healthy in us-east-1. | The service is unhealthy in eu-west-1.
The build runs on Node 18. | The linter runs on Node 20.
Alice is Bob's manager. | Carol is Dan's manager.
The car is new. | The house is old.
Keep logs for 30 days. | Keep backups for 60 days.
The response time is 200ms. | The response time is 0.2 s.
The distance is 5 km. | The distance is 5000 m.
Set the read timeout to 30 seconds. | Set the write timeout to 60 seconds.
The plan includes backups. | The plan includes support.
The trial includes support. | The basic plan excludes support.
Alice approved PR 5. | Bob rejected PR 6.
Alice approved PR 5. | Bob rejected PR 5.
Build 5 failed. | Build 6 succeeded.
Emma met Bob. | Emma met Carol.
The trip was great. | The food was terrible.
The morning was cold. | The evening was warm.
I felt sad on Monday. | I felt happy on Friday.
We shipped v1.2 in May. | We shipped v1.3 in June.
Version 1.2 fixed the crash. | Version 1.3 fixed the leak.
Use pip in the container. | Use uv on laptops.
Alice said she lives in Rome. | Alice lives in Madrid.
The test took 5 s on CI. | The test took 2 s locally.
Customers love the new editor. | Developers hate the new editor.
The left lane is closed. | The right lane is open.
North gate is open. | South gate is closed.
Most requests are fast. | Some requests are slow.
The lead developer likes tea. | The lead designer likes coffee.
Today is Monday. | The meeting is on Tuesday.
Sprint 5 ends on Friday. | Sprint 6 ends on Monday.
The dev team uses Slack. | The sales team uses Teams.
Alice was the CTO until 2020. | Bob is the CTO.
The old server was slow. | The server is fast.
Alice used to live in Paris. | Alice lives in Rome.
Alice previously worked at Google. | Alice works at Meta.
Alice will move to Berlin next year. | Alice lives in Paris.
The plan is to move to PostgreSQL. | Billing uses MySQL.
There is no cache for writes. | There is a cache for reads.
Do you use MySQL? | We use PostgreSQL.
Alice lives in Rome. | Alice lived in Paris for three years.
Alice lives in Rome. | Alice stayed in Paris last week.
Alice works at Google. | Alice worked at Meta before that.
Alice works at Google. | Alice joined a meeting.
render is called by main. | render is called by worker.
The function is called by the scheduler. | The function is called by the worker.
The PR is merged. | The PR is deployed.
The ticket is blocked. | The ticket is pending.
We used Jenkins for CI. | We use GitHub Actions for CI.
Billing used MySQL in 2020. | Billing uses PostgreSQL.
The service uses Redis and Kafka. | The service uses Memcached for sessions.
The team uses Python and Go. | The team uses Rust for the parser.
Alice leads the platform team. | Alice leads the hiring committee.
Alice owns billing. | Alice owns search.
Alice wrote the parser. | Bob wrote the lexer.
Alice wrote the parser. | Bob reviewed the parser.
PR 5 was reviewed by Alice. | PR 5 was reviewed by Bob.
PR 5 touches auth. | PR 5 touches billing.
The config has a retry flag. | The config has a timeout flag.
The config file sets the port. | The config file sets the host.
Function f returns int. | Function g returns str.
Class A extends B. | Class C extends D.
The test for auth is slow. | The test for billing is fast.
The auth test is slow. | The billing test is fast.
Line 10 is long. | Line 20 is short.
The cache hit rate is 80% for reads. | The cache hit rate is 20% for writes.
The p95 of search is 120 ms. | The p95 of login is 80 ms.
Search takes 120 ms on average. | Search takes 300 ms at p99.
Startup takes 2 s cold. | Startup takes 0.5 s warm.
The first run takes 10 s. | The second run takes 2 s.
Run the migration before deploy. | Run the smoke tests after deploy.
The bug is in parser.py. | The bug fix is in lexer.py.
The error is in line 10. | The error is in line 10 of parser.py.
The user prefers short answers. | The user prefers tables for comparisons.
The user likes tests. | The user likes docs.
The user's editor is vim. | The user's shell is zsh.
The user is on macOS. | The user is in Berlin.
The user has an M2 laptop. | The user has a Linux server.
The API key is in Vault. | The API docs are in Confluence.
Never commit secrets. | Always commit lock files.
Never push to main. | Always push to a branch.
Use tabs in Makefiles. | Use spaces in Python files.
Use pytest for unit tests. | Use playwright for e2e tests.
Use Postgres in production. | Use SQLite in tests.
Use Python 3.12 for the daemon. | Use Python 3.11 for the scripts.
The daemon listens on a Unix socket. | The dashboard listens on port 8080.
The server binds to 127.0.0.1. | The server logs to /var/log.
Deploy takes place on Monday. | Review takes place on Tuesday.
Alice is on vacation until Friday. | Bob is on vacation until Monday.
Alice is out on Monday. | Alice is in on Tuesday.
Alice's first language is Spanish. | Alice's second language is English.
Alice's birthday is in May. | Alice's wedding is in June.
Alice's team is red. | Alice's car is blue.
The main entry is cli.py. | The main test is test_cli.py.
The build passes locally. | The build fails on CI.
Tests pass on Linux. | Tests fail on Windows.
It works on my machine. | It does not work in CI.
The job is scheduled for Monday. | The job is scheduled by cron.
The release is planned for May. | The release is planned by Alice.
The repo has 3 open issues. | The repo has 5 closed issues.
The repo has 3 maintainers. | The repo has 12 contributors.
Alice gave Bob the keys. | Bob gave Alice the report.
Alice sent the invoice to Bob. | Bob sent the invoice to Carol.
Bob depends on Alice. | Alice does not depend on Bob.
Feature X is not in v1. | Feature X is in v2.
We do not support Windows 7. | We support Windows 10.
The library is not thread safe. | The library is fast.
The old endpoint is deprecated. | The new endpoint is recommended.
Some nodes are down. | Some nodes are up.
Node 3 is down. | Node 4 is up.
The east region is down. | The west region is up.
I have been to France. | I have been to Spain.
I went to Paris. | I went to Rome.
I'm reading Dune. | I'm reading Emma.
I am happy today. | I was sad yesterday.
I am good at chess. | I am bad at poker.
My dog is black. | My cat is white.
My son is 5. | My daughter is 7.
My sister lives in Oslo. | My brother lives in Rome.
My first job was at IBM. | My current job is at Google.
We met in 2019. | We married in 2021.
We have a meeting at 9. | We have a meeting at 11.
The talk starts at 9:00. | The lunch starts at 12:00.
"""


def rows(block: str) -> list[tuple[str, str]]:
    return [tuple(part.strip() for part in line.split(" | ")) for line in block.strip().splitlines()]


def judge(old: str, new: str) -> Verdict | None:
    return BuiltinClassifier().classify(analyse_claim(new), analyse_claim(old))


@pytest.mark.parametrize(("old", "new"), rows(COMPATIBLE))
def test_claims_that_can_both_hold_get_no_verdict(old: str, new: str):
    assert judge(old, new) is None
    assert judge(new, old) is None
