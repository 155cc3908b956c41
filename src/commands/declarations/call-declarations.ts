import type { CommandDeclaration } from '../command-declaration.js';
import {
  ACCOUNT,
  CALL_FILTERS,
  MICRO_USD,
  operand,
  PAGE,
  REFUND,
  YES,
  CELLS,
} from './shared-options.js';

const EXECUTION = operand('EXECUTION', 'Id of the call, exec_…, its x-gateway-execution-id');
const TASK = operand('TASK', 'Id of the task, task_…');

/** What the commands about synchronous calls and webhook deliveries take. */
export const CALL_DECLARATIONS = {
  executions: {
    about: 'Lists synchronous calls, newest first',
    options: {
      ...CELLS,
      ...CALL_FILTERS,
      status: { value: 'running|succeeded|failed', about: 'State of the call' },
      broken: {
        value: 'true|false',
        about: 'Only streams that broke before they were whole and are free, or all others',
      },
      ...PAGE,
    },
    example: 'executions --account-id acme --status failed --from 2026-11-25',
  },
  execution: {
    about: 'Shows a synchronous call: model, provider, charge, error',
    operands: EXECUTION,
    options: CELLS,
    notes: [
      'A call that was refused before its price was held (400, 401, 402, 403, 404, 413, 429, some 503) leaves no record. Its line in the log has its id as execution_id, the error code and the param.',
    ],
    example: 'execution exec_…',
  },
  'execution:refund': {
    about: 'Gives the charge of a synchronous call back, or a part of it',
    operands: EXECUTION,
    options: REFUND,
    notes: ['It asks first.'],
    example: 'execution:refund exec_… --reason goodwill',
  },
  holds: {
    about: 'Lists what running calls and open tasks hold, oldest first',
    options: {
      ...CELLS,
      'account-id': { value: 'ACCOUNT', about: ACCOUNT.about },
      model: { value: 'MODEL', about: 'Id of the model' },
      holder: { value: 'execution|task', about: 'Of synchronous calls or of tasks only' },
      'created-before': { value: 'TIME', about: 'Older than this time' },
      ...PAGE,
    },
    example: 'holds --account-id acme',
  },
  deliveries: {
    about: 'Lists webhook deliveries with their attempts, newest first',
    options: {
      ...CELLS,
      'account-id': { value: 'ACCOUNT', about: ACCOUNT.about },
      'task-id': { value: 'TASK', about: 'Of this task' },
      'endpoint-id': { value: 'ENDPOINT', about: 'To this endpoint of an account' },
      host: { value: 'HOST', about: 'To this host, among the newest 100,000 deliveries' },
      event: { value: 'TYPE', about: 'Of events of this type, such as balance.low' },
      status: { value: 'pending|delivered|failed', about: 'State of the delivery' },
      ...PAGE,
    },
    example: 'deliveries --account-id acme --status failed',
  },
  'delivery:redeliver-failed': {
    about: 'Sends webhook deliveries again that failed for good: 10,000 at most, the newest',
    options: {
      'failed-after': {
        value: 'TIME',
        about:
          'Whose last attempt began then or later: epoch seconds, a date or a time in ISO 8601',
      },
      host: { value: 'HOST', about: 'To this host only, such as hooks.example.com' },
      'account-id': { value: 'ACCOUNT', about: ACCOUNT.about },
    },
    notes: ['It says how many are due now. What is delivered or still due is left alone.'],
    example: 'delivery:redeliver-failed --host hooks.example.com --failed-after 2026-11-25',
  },
  'delivery:redeliver': {
    about: 'Makes the next attempt of a webhook delivery now',
    operands: operand('DELIVERY', 'Id of the delivery, whd_…'),
    example: 'delivery:redeliver whd_…',
  },
} as const satisfies Readonly<Record<string, CommandDeclaration>>;

/** What the commands about tasks take. */
export const TASK_DECLARATIONS = {
  tasks: {
    about: 'Lists tasks, newest first',
    options: {
      ...CALL_FILTERS,
      status: {
        value: 'STATUS',
        about: 'queued, processing, succeeded, failed, expired or reconciliation_required',
      },
      modality: { value: 'audio|image|video|text', about: 'What they make' },
      ...PAGE,
    },
    example: 'tasks --status reconciliation_required',
  },
  task: { about: 'Shows a task', operands: TASK, example: 'task task_…' },
  'task:content-link': {
    about: 'Makes a link to the file of a task, which is good without a key until it expires',
    operands: TASK,
    notes: ['Who made it is recorded.'],
    example: 'task:content-link task_…',
  },
  'task:resolve': {
    about: 'Decides a task whose outcome is unknown, or collects a late result',
    operands: [
      { name: 'TASK', about: 'Id of the task, task_…', insteadOf: ['all'] },
      {
        name: 'succeeded|failed|collect',
        about: 'Settles, releases, or fetches the result from the provider and settles',
        insteadOf: ['all'],
      },
    ],
    options: {
      charge: {
        value: 'AMOUNT_MICROUSD',
        about: `What is charged, at most what is held. ${MICRO_USD}. Absent: all that is held`,
      },
      'charge-usd': { value: 'AMOUNT', about: 'The same in USD, such as 0.05' },
      result: { value: 'JSON', about: 'What the task shows as its result, with succeeded only' },
      all: {
        about:
          'Collects the tasks whose providers were seen to succeed. With --evidence succeeded --outcome collect',
      },
      evidence: { value: 'succeeded', about: 'With --all' },
      outcome: { value: 'collect', about: 'With --all' },
      limit: { value: 'N', about: 'With --all: so many tasks at most, 1 to 1000. Absent: 100' },
      ...YES,
    },
    notes: ['It asks first.'],
    example: 'task:resolve task_… collect',
  },
  'task:refund': {
    about: 'Gives the charge of a task back, or a part of it',
    operands: TASK,
    options: REFUND,
    notes: ['It asks first.'],
    example: 'task:refund task_… --usd 0.05 --reason fault',
  },
} as const satisfies Readonly<Record<string, CommandDeclaration>>;
