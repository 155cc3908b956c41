import type { SandboxExchange } from '../http/sandbox-exchange.js';
import type { SandboxProtocol, SandboxRoute } from '../http/protocol.js';
import type { JobBoard } from '../jobs/job-board.js';
import type { MediaShelf } from '../media/media-shelf.js';
import { FLOW_FIELDS, type FlowOperation, FLOW_OPERATIONS } from './flow-operations.js';
import { FLOW_FAMILY, SUNO_FAMILY } from './song-families.js';
import { Recordings } from './song-files.js';
import { SongJobs } from './song-jobs.js';
import type { SongOperation } from './song-product.js';
import { SUNO_CREATIONS } from './suno-creations.js';
import { SUNO_EDITS } from './suno-edits.js';
import { SUNO_EXPORTS } from './suno-exports.js';
import { SUNO_FIELDS, type SunoOperation } from './suno-fields.js';
import { readFields, type WireFields } from './wire-fields.js';

const SUNO_OPERATIONS: Readonly<Record<SunoOperation, SongOperation<WireFields>>> = {
  ...SUNO_CREATIONS,
  ...SUNO_EDITS,
  ...SUNO_EXPORTS,
};
/** Operations that answer with their result at once. */
const INSTANT: readonly SunoOperation[] = [
  ...(['upsample-tags', 'vox', 'persona', 'gen-midi', 'alignedLyrics', 'bpm'] as const),
];

/**
 * TTAPI: the key is in `TT-API-KEY`, requests are JSON, answers are `{status, message, data}`. `?jobId=` asks for the
 * state of a job.
 */
export function ttapiProtocol(jobs: JobBoard, shelf: MediaShelf): SandboxProtocol {
  const stores = { jobs, shelf, recordings: new Recordings(shelf) };
  const songs = new SongJobs(SUNO_FAMILY, stores);
  const clips = new SongJobs(FLOW_FAMILY, stores);
  return {
    prefix: '/ttapi',
    routes: [
      ...Object.keys(SUNO_FIELDS).map((name) => sunoRoute(name as SunoOperation, songs)),
      ...Object.keys(FLOW_FIELDS).map((name) => flowRoute(name as FlowOperation, clips)),
      fetchRoute('/suno/v2/fetch', songs),
      fetchRoute('/flowmusic/v1/fetch', clips),
    ],
    keyOf: (exchange) => exchange.header('tt-api-key'),
    requestIdHeader: 'x-request-id',
    errorBody: ({ message }) => ({ status: 'FAILED', message }),
  };
}

function sunoRoute(operation: SunoOperation, jobs: SongJobs): SandboxRoute {
  return post('suno', operation, async (exchange) => {
    const fields = readFields(exchange.body, SUNO_FIELDS[operation]);
    const waits = operation === 'upload' && fields.has('is_async') && !fields.flag('is_async');
    const isInstant = waits || INSTANT.includes(operation);
    await jobs.submit(exchange, {
      operation,
      perform: SUNO_OPERATIONS[operation],
      fields,
      isInstant,
    });
  });
}

function flowRoute(operation: FlowOperation, jobs: SongJobs): SandboxRoute {
  return post('flowmusic', operation, async (exchange) => {
    const fields = readFields(exchange.body, FLOW_FIELDS[operation]);
    const perform = FLOW_OPERATIONS[operation];
    await jobs.submit(exchange, { operation, perform, fields, isInstant: false });
  });
}

function post(
  family: string,
  operation: string,
  handle: (exchange: SandboxExchange) => Promise<void>,
): SandboxRoute {
  const path = `/${family}/v1/${operation}`;
  return { method: 'POST', path, operation: `${family}/${operation}`, handle };
}

function fetchRoute(path: string, jobs: SongJobs): SandboxRoute {
  return {
    method: 'GET',
    path,
    operation: 'song_fetch',
    handle: (exchange) => jobs.show(exchange),
  };
}
