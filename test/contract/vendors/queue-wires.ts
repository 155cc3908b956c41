import {
  BEARER,
  FIRST,
  failedWith,
  refusedWith,
  type ShippedWire,
  FILE_URL,
  REFERENCE,
  WAITING,
} from './wire.js';

/** A prediction in a list of Replicate. */
const prediction = (parts: object) => ({
  ...{ id: 'p1', model: 'acme/film-1', version: 'hidden', source: 'api', status: 'processing' },
  ...{ output: null, error: null, logs: '', metrics: {}, started_at: null, completed_at: null },
  created_at: '2026-11-29T10:01:45.99397566Z',
  input: { prompt: 'The sea', duration: 5, aspect_ratio: '16:9', image: FIRST },
  urls: { get: 'BASE/predictions/p1', cancel: 'BASE/predictions/p1/cancel' },
  ...parts,
});
const predictions = (...results: object[]) => ({
  previous: null,
  next: 'BASE/predictions?cursor=cD0yMDIy',
  results: [prediction({ id: 'p2', model: 'acme/other' }), ...results],
});

/** fal and Replicate, which run the models of others. */
export const QUEUE_WIRES: readonly ShippedWire[] = [
  {
    id: 'fal',
    model: 'fal-ai/veo3/image-to-video',
    command: { seconds: '8', resolution: '720p', audio: false, firstFrameUrl: FIRST },
    submit: {
      url: '/fal-ai/veo3/image-to-video',
      body: {
        prompt: 'The sea',
        duration: '8s',
        resolution: '720p',
        generate_audio: false,
        image_url: FIRST,
      },
    },
    headers: { authorization: 'Key access-1:secret-of-a-vendor', 'x-fal-no-retry': '1' },
    accepted: {
      request_id: 'r1',
      status: 'IN_QUEUE',
      queue_position: 3,
      status_url: 'BASE/fal-ai/veo3/requests/r1/status',
      response_url: 'BASE/fal-ai/veo3/requests/r1',
      cancel_url: 'BASE/fal-ai/veo3/requests/r1/cancel',
    },
    job: 'BASE/fal-ai/veo3/requests/r1/status',
    readUrl: '/fal-ai/veo3/requests/r1/status',
    cancel: ['PUT /fal-ai/veo3/requests/r1/cancel', 202],
    reads: [
      [
        {
          status: 'IN_QUEUE',
          queue_position: 1,
          cancel_url: 'BASE/fal-ai/veo3/requests/r1/cancel',
        },
        WAITING,
        202,
      ],
      [{ status: 'IN_PROGRESS', logs: [] }, WAITING, 202],
      [
        { status: 'COMPLETED', error: 'Timed out', error_type: 'request_timeout' },
        failedWith('request_timeout', 'Timed out'),
      ],
    ],
    finished: {
      status: 'COMPLETED',
      metrics: { inference_time: 9 },
      response_url: 'BASE/fal-ai/veo3/requests/r1',
    },
    result: { video: { url: FILE_URL, content_type: 'video/mp4', file_size: 9 }, seed: 1 },
    errors: [
      [401, { detail: 'Invalid key' }, 'account'],
      [403, { detail: 'User is locked. Reason: Exhausted balance' }, 'account'],
      [
        422,
        { detail: [{ loc: ['body', 'prompt'], msg: 'No', type: 'content_policy_violation' }] },
        'refused_content',
      ],
      [422, { detail: [{ loc: ['body', 'duration'], msg: 'No', type: 'enum' }] }, 'rejected'],
      [429, { detail: 'Too many' }, 'rate_limited'],
    ],
  },
  {
    id: 'replicate',
    model: 'acme/film-1',
    command: { aspectRatio: '16:9', firstFrameUrl: FIRST, reference: REFERENCE },
    submit: {
      url: '/models/acme/film-1/predictions',
      body: { input: { prompt: 'The sea', duration: 5, aspect_ratio: '16:9', image: FIRST } },
    },
    headers: BEARER,
    accepted: { id: 'p1', status: 'starting', urls: { get: 'BASE/predictions/p1' } },
    job: 'p1',
    readUrl: '/predictions/p1',
    cancel: ['POST /predictions/p1/cancel', 200],
    lookUp: {
      by: 'time',
      url: '/predictions',
      found: predictions(prediction({})),
      others: [
        predictions(),
        predictions(prediction({}), prediction({ id: 'p3' })),
        predictions(prediction({ created_at: '2026-11-29T11:01:45.99397566Z' })),
        // Inputs are removed after an hour.
        predictions(prediction({ input: {}, data_removed: true })),
      ],
    },
    reads: [
      [{ id: 'p1', status: 'starting', output: null, error: null }, WAITING],
      [{ id: 'p1', status: 'processing', output: null, error: null, logs: '42%|' }, WAITING],
      [
        { id: 'p1', status: 'failed', output: null, error: 'Flagged: no.' },
        failedWith(null, 'Flagged: no.'),
      ],
      [
        {
          ...{ id: 'p1', status: 'failed', output: null },
          error: 'The input or output was flagged as sensitive. Please try again. (E005)',
        },
        refusedWith(null, 'The input or output was flagged as sensitive. Please try again. (E005)'),
      ],
      [{ id: 'p1', status: 'canceled', output: null, error: null }, { state: 'failed' }],
      [{ id: 'p1', status: 'aborted', output: null, error: null }, { state: 'failed' }],
    ],
    finished: { id: 'p1', status: 'succeeded', output: [FILE_URL], error: null },
    errors: [
      [402, { title: 'Insufficient credit', detail: 'Pay', status: 402 }, 'account'],
      [422, { title: 'Input validation failed', detail: 'No', status: 422 }, 'rejected'],
      [
        429,
        { detail: 'Request was throttled. Expected available in 9s.', status: 429 },
        'rate_limited',
        9,
      ],
      [
        429,
        { detail: 'Request was throttled. Your rate limit resets in ~30s.' },
        'rate_limited',
        30,
      ],
      [
        429,
        {
          detail:
            'Request was throttled. Your rate limit for creating predictions is reduced to 6 requests per minute with a burst of 1 requests while you have less than $5.0 in credit. Your rate limit resets in ~7s.',
          status: 429,
          retry_after: 7,
        },
        'rate_limited',
        7,
      ],
      [429, { detail: 'Slow down.', status: 429 }, 'rate_limited'],
    ],
  },
];
