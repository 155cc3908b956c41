import {
  BEARER,
  FIRST,
  FILE_URL,
  roleImage,
  LAST,
  refusedWith,
  SEA_TEXT,
  type ShippedWire,
  WAITING,
} from './wire.js';

/** An error of its second version, with the number of the first at the end of the message where it has one. */
const minimaxError = (status: number, type: string, message: string) => ({
  ...{ type: 'error', error: { type, message, http_code: String(status) } },
  request_id: '0660b098aa1e9dd5',
});
const MINIMAX_V2_ERRORS: ShippedWire['errors'] = [422, 200].flatMap((status) => [
  [
    status,
    minimaxError(422, 'unprocessable_entity_error', 'input new_sensitive (1026)'),
    'refused_content',
  ],
  [status, minimaxError(400, 'bad_request_error', 'invalid params, ratio (2013)'), 'rejected'],
  [status, minimaxError(400, 'bad_request_error', 'insufficient balance (1008)'), 'account'],
  [status, minimaxError(429, 'too_many_requests', 'rate limit exceeded (1002)'), 'rate_limited'],
  [status, minimaxError(429, 'too_many_requests', 'slow down'), 'rate_limited'],
  [status, minimaxError(500, 'api_error', 'unknown error (1000)'), 'http_error'],
]);

/** MiniMax, which tells errors in two forms. */
export const MINIMAX_WIRE: ShippedWire = {
  id: 'minimax-video',
  model: 'MiniMax-H3',
  command: { resolution: '2K', firstFrameUrl: FIRST, lastFrameUrl: LAST },
  submit: {
    url: '/v2/video_generation',
    body: {
      model: 'MiniMax-H3',
      content: [SEA_TEXT, roleImage(FIRST, 'first_frame'), roleImage(LAST, 'last_frame')],
      resolution: '2K',
      duration: 5,
    },
  },
  headers: BEARER,
  accepted: { task_id: 'm1' },
  job: 'm1',
  readUrl: '/v2/query/video_generation/m1',
  reads: [
    [{ task: { id: 'm1', status: 'queued' } }, WAITING],
    [{ task: { id: 'm1', status: 'running' } }, WAITING],
    [
      { task: { id: 'm1', status: 'failed', error: { code: '1027', message: 'Output' } } },
      refusedWith('1027', 'Output'),
    ],
    [{ task: { id: 'm1', status: 'cancelled' } }, { state: 'failed' }],
    [{ task: { id: 'm1', status: 'expired' } }, { state: 'failed' }],
  ],
  finished: { task: { id: 'm1', status: 'succeeded', content: { url: FILE_URL }, duration: 5 } },
  errors: [
    [200, { base_resp: { status_code: 1026, status_msg: 'Input' } }, 'refused_content'],
    [200, { base_resp: { status_code: 1027, status_msg: 'Output' } }, 'refused_content'],
    [200, { base_resp: { status_code: 1002, status_msg: 'Slow' } }, 'rate_limited'],
    [200, { base_resp: { status_code: 1008, status_msg: 'Balance' } }, 'account'],
    [200, { base_resp: { status_code: 2049, status_msg: 'Key' } }, 'account'],
    ...MINIMAX_V2_ERRORS,
    [200, { base_resp: { status_code: 1001, status_msg: 'Timeout' } }, 'http_error'],
    [200, { base_resp: { status_code: 1042, status_msg: 'Invisible' } }, 'rejected'],
  ],
};
