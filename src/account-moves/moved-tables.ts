/** A table of an account whose rows go with it into the other cell. */
export interface MovedTable {
  readonly name: string;
  /** The columns that order its rows. Rows are written to the file, and into the other database, in this order. */
  readonly order: string;
  /** Columns that stay behind, with what the other cell has in them instead, as an expression of SQL. */
  readonly instead?: Readonly<Record<string, string>>;
  /** Which of its rows belong to the account, $1; absent: those with its `account_id`. */
  readonly where?: string;
  /** Which rows of the file, `r`, the other cell takes; absent: all of them. */
  readonly taken?: string;
}

const OF_KEYS = 'api_key_id IN (SELECT id FROM api_key WHERE account_id = $1)';
/** Hours of before are not whole there, so they would not add up to their days. */
const WHOLE_HOURS = 'r.hour >= (SELECT hours_from FROM usage_state)';

/**
 * What moves, in the order in which it is written: a row comes after those that its triggers read. Keys come along revoked and with a
 * hash that no text has, so that usage still names them and none can be used. What is sealed with the key of the former cell is left out.
 */
export const MOVED_TABLES: readonly MovedTable[] = [
  {
    name: 'account',
    order: 'id',
    where: 'id = $1',
    instead: { disabled: 'true', leaving: 'NULL' },
  },
  {
    name: 'api_key',
    order: 'id',
    instead: {
      hash: 'sha256(uuid_send(gen_random_uuid()))',
      revoked_at: 'coalesce(r.revoked_at, now())',
      changed_at: 'now()',
    },
  },
  { name: 'api_key_use', order: 'api_key_id', where: OF_KEYS },
  { name: 'limit_notice', order: 'owner' },
  { name: 'execution', order: 'id' },
  { name: 'hold', order: 'id' },
  {
    name: 'task',
    order: 'id',
    instead: { sealed_input: 'NULL', content: 'NULL', webhook_url: 'NULL', webhook_secret: 'NULL' },
  },
  { name: 'run', order: 'position' },
  { name: 'ledger_entry', order: 'position' },
  {
    name: 'credit_lot',
    order: 'position',
    instead: { look_at: 'CASE WHEN r.is_empty THEN NULL ELSE r.expires_at END' },
  },
  { name: 'ledger_entry_source', order: 'position' },
  { name: 'late_charge', order: 'id' },
  { name: 'late_reversal', order: 'id' },
  { name: 'dropped_record', order: 'account_id' },
  { name: 'idempotency_key', order: 'endpoint, key' },
  { name: 'call_key', order: 'endpoint, key' },
  { name: 'kept_song_step', order: 'upstream, digest' },
  { name: 'key_inherited', order: 'api_key_id' },
  { name: 'key_spend_carried', order: 'id, api_key_id' },
  { name: 'key_spend', order: 'api_key_id' },
  { name: 'maker_spend', order: 'api_key_id' },
  { name: 'usage_account', order: 'account_id' },
  { name: 'usage_day', order: 'day, api_key_id, model, endpoint' },
  { name: 'usage_latency', order: 'day, api_key_id, model, endpoint' },
  { name: 'usage_refund', order: 'day, api_key_id, model, endpoint' },
  { name: 'usage_month', order: 'month, api_key_id' },
  { name: 'usage_month_latency', order: 'month, api_key_id' },
  { name: 'usage_held', order: 'month' },
  { name: 'usage_run', order: 'day, run, api_key_id, model, endpoint' },
  { name: 'usage_run_latency', order: 'day, run, api_key_id, model, endpoint' },
  { name: 'usage_run_refund', order: 'day, run, api_key_id, model, endpoint' },
  { name: 'usage_hour', order: 'hour, api_key_id, model, endpoint', taken: WHOLE_HOURS },
  { name: 'usage_hour_latency', order: 'hour, api_key_id, model, endpoint', taken: WHOLE_HOURS },
  { name: 'usage_hour_refund', order: 'hour, api_key_id, model, endpoint', taken: WHOLE_HOURS },
];

/** What does not move, and why. The rows are deleted in the former cell with the rest. */
export const LEFT_TABLES: Readonly<Record<string, string>> = {
  webhook_endpoint: 'its secret is sealed with the key of the former cell',
  webhook_attempt: 'it is the log of deliveries, which stay',
  webhook_delivery: 'its secret is sealed with the key of the former cell; none is pending',
  stored_item: 'it is sealed with the key of the former cell',
  stored_response: 'it is sealed with the key of the former cell',
  kept_answer: 'it is sealed with the key of the former cell',
  stored_content: 'it counts what is stored, which stays',
  task_work: 'no task is open; ended ones are watched no longer',
  open_call: 'no call is open',
  usage_pending: 'nothing is left to be added to the sums of usage',
  audit_checkpoint: 'the audit at the end of the import writes it',
  usage_checkpoint: 'the audit at the end of the import writes it',
  usage_checkpoint_day: 'the audit at the end of the import writes it',
  key_expiry_notice: 'the keys come along revoked',
  console_session: 'whoever is signed in signs in there',
  portal_link: 'a link leads to the console of the former cell',
};

/** What stays in the former cell also after the account has left, and why. */
export const STAYING_TABLES: Readonly<Record<string, string>> = {
  stored_file: 'the files are in the STORAGE_URL of the cell; they expire there',
  account_move: 'it is the record of the moves',
};

/** Which rows of a table that does not move belong to the account, $1. */
export const leftRowsOf = (table: string): string =>
  table === 'key_expiry_notice' ? OF_KEYS : 'account_id = $1';
