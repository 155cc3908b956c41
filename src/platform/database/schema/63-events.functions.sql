-- The events of accounts. Each function runs in the transaction that causes the event; where no endpoint asks for it, it reads one
-- index and writes nothing but what keeps an event from being told twice.

-- Adds a delivery of the event for each endpoint of the account that asks for it, or for the one endpoint p_only. The bytes of
-- the body are those of every attempt. Returns the ids of the deliveries.
CREATE OR REPLACE FUNCTION event_tell(p_account uuid, p_type text, p_data json, p_only uuid DEFAULT NULL) RETURNS SETOF uuid
LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET jit = off AS $$
DECLARE
  at timestamptz := clock_timestamp();
  lead text := lpad(to_hex(floor(extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7';
  event text := 'evt_' || lead || substr(replace(gen_random_uuid()::text, '-', ''), 14);
BEGIN
  RETURN QUERY
  INSERT INTO webhook_delivery (account_id, id, owner_id, url, origin, sealed_secret, body, due_at, created_at, event)
    SELECT p_account, (lead || substr(replace(gen_random_uuid()::text, '-', ''), 14))::uuid, e.id, e.url, e.origin, e.sealed_secret,
           convert_to(json_build_object(
             'id', event, 'object', 'event', 'type', p_type, 'created_at', floor(extract(epoch FROM at))::bigint,
             'account_id', 'acct_' || replace(p_account::text, '-', ''), 'data', p_data)::text, 'UTF8'),
           at, at, p_type
      FROM webhook_endpoint e
     WHERE e.account_id = p_account AND CASE WHEN p_only IS NULL THEN p_type = ANY (e.events) ELSE e.id = p_only END
  RETURNING id;
END $$;

-- Whether an endpoint of the account asks for events of the type.
CREATE OR REPLACE FUNCTION event_is_wanted(p_account uuid, p_type text) RETURNS boolean LANGUAGE plpgsql STABLE
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
BEGIN
  RETURN EXISTS (SELECT FROM webhook_endpoint WHERE account_id = p_account AND p_type = ANY (events));
END $$;

-- Where an account gets more money; null where the operator names no page.
CREATE OR REPLACE FUNCTION topup_url_of(p_account uuid) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT replace(url, '{account}', 'acct_' || replace(p_account::text, '-', '')) FROM topup_page;
$$;

-- Tells once that what is available fell below the account's mark, and remembers it until it is above again.
CREATE OR REPLACE FUNCTION account_tell_low() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.is_low = (NEW.posted - NEW.held < NEW.low_balance) THEN
    RETURN NEW;
  END IF;
  NEW.is_low := NOT NEW.is_low;
  IF NEW.is_low THEN
    PERFORM event_tell(NEW.id, 'balance.low', json_build_object(
      'available_microusd', (NEW.posted - NEW.held)::text, 'low_balance_microusd', NEW.low_balance::text,
      'topup_url', topup_url_of(NEW.id)));
  END IF;
  RETURN NEW;
END $$;

-- Tells that a call was refused for want of balance, at most once an hour. The account is locked.
CREATE OR REPLACE FUNCTION account_tell_depleted(p_account uuid) RETURNS void LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
  available bigint;
BEGIN
  IF event_is_wanted(p_account, 'balance.depleted') THEN
    UPDATE account SET depleted_at = clock_timestamp()
     WHERE id = p_account AND (depleted_at IS NULL OR depleted_at <= clock_timestamp() - interval '1 hour')
    RETURNING posted - held INTO available;
    IF FOUND THEN
      PERFORM event_tell(p_account, 'balance.depleted', json_build_object(
        'available_microusd', available::text, 'topup_url', topup_url_of(p_account)));
    END IF;
  END IF;
END $$;

-- Tells the end of a task, or that its outcome is unknown.
CREATE OR REPLACE FUNCTION task_tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM event_tell(
    NEW.account_id, CASE NEW.status WHEN 'reconciliation_required' THEN 'task.unknown' ELSE 'task.finished' END,
    json_build_object(
      'task_id', 'task_' || replace(NEW.id::text, '-', ''), 'status', NEW.status, 'model', NEW.model,
      'endpoint', NEW.endpoint, 'charged_microusd', NEW.charged::text, 'error_code', NEW.error_code));
  RETURN NULL;
END $$;

-- Tells that 80 or 100 percent of a limit are reached, each once for p_since; p_data names whose limit it is.
CREATE OR REPLACE FUNCTION limit_tell(p_account uuid, p_owner text, p_since text, p_limit bigint, p_used bigint, p_data jsonb)
RETURNS void LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
  reached smallint := CASE WHEN p_used >= p_limit THEN 100 WHEN p_used::numeric * 100 >= p_limit::numeric * 80 THEN 80 ELSE 0 END;
BEGIN
  IF reached = 0 THEN
    RETURN;
  END IF;
  INSERT INTO limit_notice AS n (account_id, owner, since, percent) VALUES (p_account, p_owner, p_since, reached)
  ON CONFLICT (account_id, owner) DO UPDATE SET since = excluded.since, percent = excluded.percent
    WHERE n.since <> excluded.since OR n.percent < excluded.percent;
  IF FOUND THEN
    PERFORM event_tell(p_account, 'limit.reached', (p_data || jsonb_build_object(
      'percent', reached, 'spend_limit_microusd', p_limit::text, 'spent_microusd', p_used::text))::json);
  END IF;
END $$;

-- Looks how much of the limit of a key is used, after what it or the keys that it made spend grew; the account is locked.
CREATE OR REPLACE FUNCTION key_tell_limit() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  key record;
BEGIN
  IF NOT event_is_wanted(NEW.account_id, 'limit.reached') THEN
    RETURN NULL;
  END IF;
  SELECT k.spend_limit, k.spend_limit_period AS period, s.period_start, s.spent INTO key
    FROM api_key k JOIN key_spend s ON s.account_id = NEW.account_id AND s.api_key_id = k.id
   WHERE k.id = NEW.api_key_id AND s.period = k.spend_limit_period
     AND s.begun_at > coalesce(k.spend_limit_since, '-infinity');
  IF FOUND THEN
    PERFORM limit_tell(NEW.account_id, NEW.api_key_id::text, key.period_start || ' ' || key.spend_limit, key.spend_limit,
      key.spent + maker_spent(NEW.account_id, NEW.api_key_id, key.period_start),
      jsonb_build_object('key_id', 'key_' || replace(NEW.api_key_id::text, '-', ''), 'spend_limit_period', key.period));
  END IF;
  RETURN NULL;
END $$;

-- The same for a run, after a call or task of it began; the account is locked.
CREATE OR REPLACE FUNCTION run_tell_limit(p_account uuid, p_run text) RETURNS void LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
  known run;
BEGIN
  IF event_is_wanted(p_account, 'limit.reached') THEN
    SELECT * INTO known FROM run WHERE account_id = p_account AND id = p_run;
    PERFORM limit_tell(p_account, 'run ' || p_run, known.position || ' ' || known.spend_limit, known.spend_limit,
      known.spent + known.held, jsonb_build_object('run', p_run));
  END IF;
END $$;

-- Tells which keys end within seven days, and within one: each once, unless the key was made, or its successor was, for less. Returns
-- how many ends were told.
CREATE OR REPLACE FUNCTION key_tell_expiring() RETURNS integer LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
  told integer;
BEGIN
  DELETE FROM key_expiry_notice WHERE expires_at < now() - interval '1 day';
  WITH due AS (
    INSERT INTO key_expiry_notice (api_key_id, expires_at, days)
      SELECT k.id, k.expires_at, d.days
        FROM (VALUES (7, 1), (1, 0)) d (days, until)
        JOIN api_key k ON k.expires_at > now() + d.until * interval '1 day' AND k.expires_at <= now() + d.days * interval '1 day'
       WHERE k.revoked_at IS NULL AND k.successor_id IS NULL AND k.created_at <= k.expires_at - d.days * interval '1 day'
         AND event_is_wanted(k.account_id, 'key.expiring')
    ON CONFLICT DO NOTHING RETURNING api_key_id, days
  ), told_of AS (
    SELECT event_tell(k.account_id, 'key.expiring', json_build_object(
             'key_id', 'key_' || replace(k.id::text, '-', ''), 'name', k.name,
             'expires_at', floor(extract(epoch FROM k.expires_at))::bigint, 'days', due.days))
      FROM due JOIN api_key k ON k.id = due.api_key_id
  )
  SELECT count(*) INTO told FROM told_of;
  RETURN told;
END $$;
