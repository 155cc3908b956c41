import {
  BEARER,
  FIRST,
  LAST,
  failedWith,
  refusedWith,
  roleImage,
  SEA_TEXT,
  type ShippedWire,
  FILE_URL,
  REFERENCE,
  WAITING,
} from './wire.js';
import { MINIMAX_WIRE } from './minimax-wire.js';

const klingTask = (reference: string): object => ({
  code: 0,
  message: 'SUCCEED',
  request_id: 'c0ffee',
  data: {
    task_id: '8712',
    task_status: 'submitted',
    task_info: { external_task_id: reference },
  },
});

/** The makers of video models. */
export const MAKER_WIRES: readonly ShippedWire[] = [
  {
    id: 'kling',
    model: 'kling-v2-6',
    command: { audio: true, firstFrameUrl: FIRST, lastFrameUrl: LAST, reference: REFERENCE },
    submit: {
      url: '/v1/videos/image2video',
      body: {
        model_name: 'kling-v2-6',
        prompt: 'The sea',
        duration: '5',
        image: FIRST,
        image_tail: LAST,
        sound: 'on',
        external_task_id: REFERENCE,
      },
    },
    headers: {},
    accepted: { code: 0, message: 'SUCCEED', data: { task_id: '8712', task_status: 'submitted' } },
    job: 'image2video:8712',
    readUrl: '/v1/videos/image2video/8712',
    reads: [
      [{ code: 0, data: { task_status: 'submitted' } }, WAITING],
      [{ code: 0, data: { task_status: 'processing' } }, WAITING],
      [
        { code: 0, data: { task_status: 'failed', task_status_msg: 'Internal error' } },
        failedWith(null, 'Internal error'),
      ],
      [
        { code: 0, data: { task_status: 'failed', task_status_msg: 'Failed by Risk Control.' } },
        refusedWith(null, 'Failed by Risk Control.'),
      ],
    ],
    finished: {
      code: 0,
      data: {
        task_status: 'succeed',
        task_result: { videos: [{ id: '1', url: FILE_URL, duration: '5' }] },
      },
    },
    lookUp: {
      by: 'reference',
      url: `/v1/videos/image2video/${REFERENCE}`,
      found: klingTask(REFERENCE),
      others: [klingTask('task_of_another')],
    },
    errors: [
      [200, { code: 1301, message: 'Content policy' }, 'refused_content'],
      [400, { code: 1300, message: 'Content policy' }, 'refused_content'],
      [400, { code: 1201, message: 'No such ratio' }, 'rejected'],
      [200, { code: 1102, message: 'No balance' }, 'account'],
      [429, { code: 1303, message: 'Parallel' }, 'rate_limited'],
      [401, { code: 1002, message: 'No key' }, 'account'],
      [200, { code: 5001, message: 'Busy' }, 'http_error'],
    ],
  },
  {
    id: 'byteplus-video',
    model: 'seedance-1-5-pro',
    command: { resolution: '720p', aspectRatio: '16:9', audio: true, imageUrls: [FIRST, LAST] },
    submit: {
      url: '/contents/generations/tasks',
      body: {
        model: 'seedance-1-5-pro',
        content: [
          SEA_TEXT,
          roleImage(FIRST, 'reference_image'),
          roleImage(LAST, 'reference_image'),
        ],
        resolution: '720p',
        ratio: '16:9',
        duration: 5,
        generate_audio: true,
      },
    },
    headers: BEARER,
    accepted: { id: 'cgt-1' },
    job: 'cgt-1',
    readUrl: '/contents/generations/tasks/cgt-1',
    cancel: ['DELETE /contents/generations/tasks/cgt-1', 200],
    reads: [
      [{ id: 'cgt-1', status: 'queued' }, WAITING],
      [{ id: 'cgt-1', status: 'running' }, WAITING],
      [
        { id: 'cgt-1', status: 'failed', error: { code: 'Output', message: 'No' } },
        failedWith('Output', 'No'),
      ],
      [
        {
          ...{ id: 'cgt-1', status: 'failed' },
          error: { code: 'OutputVideoSensitiveContentDetected.PolicyViolation', message: 'No' },
        },
        refusedWith('OutputVideoSensitiveContentDetected.PolicyViolation', 'No'),
      ],
      [{ id: 'cgt-1', status: 'cancelled' }, { state: 'failed' }],
      [{ id: 'cgt-1', status: 'expired' }, { state: 'failed' }],
    ],
    finished: {
      id: 'cgt-1',
      status: 'succeeded',
      content: { video_url: FILE_URL },
      usage: { completion_tokens: 9 },
    },
    errors: [
      [
        400,
        { error: { code: 'InputTextSensitiveContentDetected', message: 'No' } },
        'refused_content',
      ],
      [400, { error: { code: 'InvalidParameter.ratio', message: 'No' } }, 'rejected'],
      [429, { error: { code: 'RateLimitExceeded', message: 'Slow' } }, 'rate_limited'],
    ],
  },
  {
    id: 'xai-video',
    model: 'grok-imagine-video',
    command: { resolution: '720p', firstFrameUrl: FIRST },
    submit: {
      url: '/videos/generations',
      body: {
        model: 'grok-imagine-video',
        prompt: 'The sea',
        duration: 5,
        resolution: '720p',
        image: { url: FIRST },
      },
    },
    headers: BEARER,
    accepted: { request_id: 'x1' },
    job: 'x1',
    readUrl: '/videos/x1',
    reads: [
      [{}, WAITING, 202],
      [
        { status: 'pending', progress: 40 },
        { state: 'pending', progress: 40 },
      ],
      [
        { status: 'failed', error: { code: 'moderated', message: 'No' } },
        failedWith('moderated', 'No'),
      ],
      [{ status: 'expired' }, { state: 'failed' }],
      [
        { status: 'done', video: { url: '', duration: 5, respect_moderation: false } },
        refusedWith(null, null),
      ],
    ],
    finished: { status: 'done', video: { url: FILE_URL, duration: 5, respect_moderation: true } },
    errors: [
      [400, { code: 'invalid-argument', error: 'No such resolution' }, 'rejected'],
      [429, { code: 'resource-exhausted', error: 'Slow' }, 'rate_limited'],
    ],
  },
  {
    id: 'runway',
    model: 'gen4.5',
    command: { aspectRatio: '16:9', lastFrameUrl: LAST },
    submit: {
      url: '/v1/image_to_video',
      body: {
        model: 'gen4.5',
        promptText: 'The sea',
        promptImage: [{ uri: LAST, position: 'last' }],
        ratio: '1280:720',
        duration: 5,
      },
    },
    headers: { ...BEARER, 'x-runway-version': '2024-11-06' },
    accepted: { id: 't1' },
    job: 't1',
    readUrl: '/v1/tasks/t1',
    cancel: ['DELETE /v1/tasks/t1', 204],
    reads: [
      [{ id: 't1', status: 'PENDING' }, WAITING],
      [{ id: 't1', status: 'THROTTLED' }, WAITING],
      [
        { id: 't1', status: 'RUNNING', progress: 0.5 },
        { state: 'pending', progress: 50 },
      ],
      [
        { id: 't1', status: 'FAILED', failure: 'Unsafe', failureCode: 'SAFETY.INPUT.TEXT' },
        refusedWith('SAFETY.INPUT.TEXT', 'Unsafe'),
      ],
      [
        { id: 't1', status: 'FAILED', failure: 'Sorry', failureCode: 'INTERNAL' },
        failedWith('INTERNAL', 'Sorry'),
      ],
      [{ id: 't1', status: 'CANCELLED' }, { state: 'failed' }],
    ],
    finished: { id: 't1', status: 'SUCCEEDED', output: [FILE_URL] },
    errors: [
      [400, { error: 'Validation', issues: [] }, 'rejected'],
      [429, { error: 'Slow' }, 'rate_limited'],
    ],
  },
  MINIMAX_WIRE,
];
