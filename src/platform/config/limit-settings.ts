import { setting, whole } from './setting.js';

const MEBIBYTE = 1_048_576;
const TEBIBYTE = MEBIBYTE * MEBIBYTE;

/** Settings that limit how much of the gateway one caller can use. */
export const LIMIT_SETTINGS = {
  MAX_CONNECTIONS_PER_ADDRESS: setting(
    'maxConnectionsPerAddress',
    '2000',
    2_000,
    whole(0, 100_000),
    'Connections of one client address at once in one process; further ones are closed. Loopback addresses and those of `TRUST_PROXY` are not counted. 0 = no limit',
  ),
  MAX_PARALLEL_CALLS_PER_KEY: setting(
    'maxParallelCallsPerKey',
    '200',
    200,
    whole(0, 100_000),
    'Synchronous paid calls of one key under way at once in one process; beyond it 429. 0 = no limit',
  ),
  PROVIDER_MAX_CONNECTIONS: setting(
    'providerMaxConnections',
    '12000',
    12_000,
    whole(1, 100_000),
    'Connections of synchronous calls to one provider at once in one process; beyond it 503 before the hold',
  ),
  MAX_WAITING_REQUESTS: setting(
    'maxWaitingRequests',
    '256',
    256,
    whole(0, 100_000),
    'Calls that may wait in one process for the event loop or for their hold; of reads ten times as many. When so many have waited for a second, further ones get 503, and for 3 s only a quarter may wait. 0 = no limit',
  ),
  MAX_UPLOADS_PER_ACCOUNT: setting(
    'maxUploadsPerAccount',
    '20',
    20,
    whole(1, 10_000),
    'Uploads and downloads of an account under way at once in one process; beyond it 429',
  ),
  MAX_BACKGROUND_RESPONSES_PER_ACCOUNT: setting(
    'maxBackgroundResponsesPerAccount',
    '500',
    500,
    whole(0, 100_000),
    'Responses in the background of an account that have not ended, in all processes; beyond it 429. 0 = what it can hold',
  ),
  SPOOL_MAX_BYTES: setting(
    'spoolMaxBytes',
    '8589934592',
    8_589_934_592,
    whole(64 * MEBIBYTE, TEBIBYTE),
    'Bytes of uploads, downloads, WAV answers and large answers that are to be kept on disk at once in one process. Beyond it 503. One account may have half; beyond that 429',
  ),
  BODY_MEMORY_MAX_BYTES: setting(
    'bodyMemoryMaxBytes',
    '268435456',
    268_435_456,
    whole(64 * MEBIBYTE, TEBIBYTE),
    'Bytes of request bodies in memory at once in one process. Beyond it 503. The keys of one account may have half; beyond that 429',
  ),
  UNREAD_ANSWERS_MAX_BYTES: setting(
    'unreadAnswersMaxBytes',
    '268435456',
    268_435_456,
    whole(MEBIBYTE, TEBIBYTE),
    'Bytes of answers in the memory of one process that their readers have not taken. Beyond it the slowest readers of the account with the most are cut',
  ),
} as const;
