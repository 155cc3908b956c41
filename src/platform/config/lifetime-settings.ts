import { DAY_MS } from '../../common/time/spans.js';
import { oneOf, setting, shortName, whole } from './setting.js';

/** Settings of the beginning and the end of a process and of a call. */
export const LIFETIME_SETTINGS = {
  CELL: setting(
    'cell',
    'unset',
    undefined,
    shortName(8),
    'The name of this deployment among several, each with a database of its own: new keys begin with `sk-c<name>-`, by which an edge finds it ([how](../operate/cells.md))',
  ),
  MIGRATE: setting(
    'migrate',
    'on',
    'on',
    oneOf('on', 'off'),
    'Whether a start changes the schema. With `off` it ends and says what is pending; a job runs `npm run cli -- migrate` before',
  ),
  DRAIN_NOTICE_MS: setting(
    'drainNoticeMs',
    '5000 with `NODE_ENV=production`, else 0',
    0,
    whole(0, DAY_MS),
    'How long calls are still taken after SIGTERM, while readiness says 503 already; a part of `DRAIN_TIMEOUT_MS`. More than a load balancer takes to see it: its interval times the failures it waits for, and one second',
  ),
  DRAIN_TIMEOUT_MS: setting(
    'drainTimeoutMs',
    '120000',
    120_000,
    whole(0, DAY_MS),
    'The longest wait for calls in flight after SIGTERM. Images take 20 to 60 s. Raise it (900000, say) where music is sold. Whoever stops the process has to wait 10 s longer',
  ),
  CALL_DEADLINE_MS: setting(
    'callDeadlineMs',
    '3600000',
    3_600_000,
    whole(1000, DAY_MS),
    'Longest a synchronous call may take in all',
  ),
} as const;
