"""Pairs of claims, old and new, that contradict each other, by reason code, and pairs that can both hold."""

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


@pytest.mark.parametrize(
    ("code", "old", "new"), [(code, *pair) for code, block in CONTRADICTIONS.items() for pair in rows(block)]
)
def test_contradicting_claims_get_a_verdict_with_its_reason_code(code: str, old: str, new: str):
    verdict = judge(old, new)
    assert verdict is not None
    assert verdict.reason_code == code
    assert code in REASON_CODES
    assert verdict.reason


@pytest.mark.parametrize(("old", "new"), [pair for block in CONTRADICTIONS.values() for pair in rows(block)])
def test_spans_of_a_verdict_lie_in_the_contents(old: str, new: str):
    verdict = judge(old, new)
    assert verdict is not None
    assert 0 <= verdict.new_start < verdict.new_end <= len(new)
    assert 0 <= verdict.old_start < verdict.old_end <= len(old)


@pytest.mark.parametrize(("old", "new"), [pair for block in CONTRADICTIONS.values() for pair in rows(block)])
def test_claims_that_contradict_share_a_slot_term(old: str, new: str):
    assert set(slot_terms(analyse_claim(old))) & set(slot_terms(analyse_claim(new)))


@pytest.mark.parametrize(("old", "new"), rows(COMPATIBLE))
def test_claims_that_can_both_hold_get_no_verdict(old: str, new: str):
    assert judge(old, new) is None
    assert judge(new, old) is None


@pytest.mark.parametrize("content", [text for block in CONTRADICTIONS.values() for pair in rows(block) for text in pair])
def test_no_claim_contradicts_itself(content: str):
    assert judge(content, content) is None
