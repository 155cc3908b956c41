import { PLAIN, type PlayedWire } from './played-wire.js';

const FAL_JOB = '/fal-ai/kling-video/requests/JOB';
const FAL_URLS = `"response_url":"BASE${FAL_JOB}","status_url":"BASE${FAL_JOB}/status","cancel_url":"BASE${FAL_JOB}/cancel"`;

/** fal and Replicate, which run the models of others. */
export const PLAYED_QUEUES: readonly PlayedWire[] = [
  {
    id: 'fal',
    keyVariable: 'FAL_KEY',
    key: 'id-of-fal:secret-of-fal',
    headers: { authorization: /^Key id-of-fal:secret-of-fal$/, 'x-fal-no-retry': /^1$/ },
    model: 'fal-ai/kling-video/v2/master/text-to-video',
    submitUrl: '/fal-ai/kling-video/v2/master/text-to-video',
    sent: '{"prompt":"PROMPT","duration":"5"}',
    readUrl: `${FAL_JOB}/status`,
    ends: { cancel: [`PUT ${FAL_JOB}/cancel`, [202, '{"status":"CANCELLATION_REQUESTED"}']] },
    resultUrl: FAL_JOB,
    result: '{"video":{"url":"FILE","content_type":"video/mp4","file_name":"output.mp4"},"seed":7}',
    says: {
      accepted: [200, `{"status":"IN_QUEUE","request_id":"JOB",${FAL_URLS},"queue_position":2}`],
      refused: [
        422,
        '{"detail":[{"loc":["body","prompt"],"msg":"No","type":"content_policy_violation"}]}',
      ],
      busy: [429, '{"detail":"Too many requests"}'],
      waiting: [202, `{"status":"IN_PROGRESS","request_id":"JOB",${FAL_URLS},"logs":[]}`],
      odd: [202, `{"status":"PAUSED","request_id":"JOB",${FAL_URLS}}`],
      done: [
        200,
        `{"status":"COMPLETED","request_id":"JOB",${FAL_URLS},"metrics":{"inference_time":61.2}}`,
      ],
      failed: [
        200,
        `{"status":"COMPLETED","request_id":"JOB",${FAL_URLS},"error":"Request timed out","error_type":"request_timeout"}`,
      ],
    },
    refusals: {
      submit: [
        422,
        '{"detail":[{"loc":["body","prompt"],"msg":"No","type":"content_policy_violation"}]}',
      ],
      // It is told where the result is asked for.
      job: [
        200,
        `{"status":"COMPLETED","request_id":"JOB",${FAL_URLS},"metrics":{"inference_time":61.2}}`,
      ],
    },
  },
  {
    id: 'replicate',
    keyVariable: 'REPLICATE_API_TOKEN',
    ...PLAIN,
    hasKeyedFile: true,
    model: 'kwaivgi/kling-v2.1',
    submitUrl: '/v1/models/kwaivgi/kling-v2.1/predictions',
    sent: '{"input":{"prompt":"PROMPT","duration":5}}',
    readUrl: '/v1/predictions/JOB',
    list: {
      url: '/v1/predictions',
      page: '{"previous":null,"next":null,"results":[JOBS]}',
    },
    found:
      '{"id":"JOB","model":"kwaivgi/kling-v2.1","version":"hidden","status":"starting","source":"api","created_at":"MADE","input":{"prompt":"PROMPT","duration":5},"output":null,"error":null,"urls":{"get":"BASE/v1/predictions/JOB"}}',
    ends: {
      cancel: [
        'POST /v1/predictions/JOB/cancel',
        [200, '{"id":"JOB","status":"canceled","output":null,"error":null}'],
      ],
    },
    says: {
      accepted: [
        201,
        '{"id":"JOB","version":"hidden","status":"starting","output":null,"error":null,"logs":"","urls":{"get":"BASE/v1/predictions/JOB"}}',
      ],
      refused: [422, '{"title":"Input validation failed","detail":"prompt","status":422}'],
      busy: [429, '{"title":"Throttled","detail":"Expected available in 1s","status":429}'],
      waiting: [200, '{"id":"JOB","status":"processing","output":null,"error":null,"logs":"42%|"}'],
      odd: [200, '{"id":"JOB","status":"booting","output":null,"error":null,"logs":""}'],
      done: [
        200,
        '{"id":"JOB","status":"succeeded","output":"FILE","error":null,"metrics":{"predict_time":61.2}}',
      ],
      failed: [200, '{"id":"JOB","status":"failed","output":null,"error":"NSFW content detected"}'],
    },
    refusals: {
      job: [
        200,
        '{"id":"JOB","status":"failed","output":null,"error":"The input or output was flagged as sensitive. Please try again with different inputs. (E005)"}',
      ],
    },
  },
];
