import { PLAYED_QUEUES } from './played-queues.js';
import { PLAIN, type PlayedWire } from './played-wire.js';

const KLING_JOB = '"code":0,"message":"SUCCEED","request_id":"c0ffee","data":{"task_id":"JOB"';
const GOOD = '"base_resp":{"status_code":0,"status_msg":"success"}';
const LUMA_JOB = '"id":"JOB","object":"generation","type":"video","model":"ray-2"';

/** All of videos that are shipped. */
export const PLAYED_WIRES: readonly PlayedWire[] = [
  ...PLAYED_QUEUES,
  {
    id: 'byteplus-video',
    keyVariable: 'ARK_API_KEY',
    ...PLAIN,
    model: 'seedance-1-5-pro',
    submitUrl: '/api/v3/contents/generations/tasks',
    sent: '{"model":"seedance-1-5-pro","content":[{"type":"text","text":"PROMPT"}],"duration":5}',
    readUrl: '/api/v3/contents/generations/tasks/JOB',
    ends: { cancel: ['DELETE /api/v3/contents/generations/tasks/JOB', [200, '{}']] },
    says: {
      accepted: [200, '{"id":"JOB"}'],
      refused: [400, '{"error":{"code":"InvalidParameter.duration","message":"No"}}'],
      busy: [429, '{"error":{"code":"RateLimitExceeded","message":"Slow down"}}'],
      waiting: [200, '{"id":"JOB","model":"seedance-1-5-pro","status":"running"}'],
      odd: [200, '{"id":"JOB","model":"seedance-1-5-pro","status":"under_review"}'],
      done: [
        200,
        '{"id":"JOB","model":"seedance-1-5-pro","status":"succeeded","content":{"video_url":"FILE"},"usage":{"completion_tokens":108900}}',
      ],
      failed: [
        200,
        '{"id":"JOB","status":"failed","error":{"code":"OutputVideoSensitiveContentDetected","message":"No"}}',
      ],
    },
    refusals: {
      submit: [
        400,
        '{"error":{"code":"InputTextSensitiveContentDetected.PolicyViolation","message":"No","param":""}}',
      ],
      job: [
        200,
        '{"id":"JOB","status":"failed","error":{"code":"OutputVideoSensitiveContentDetected","message":"No"}}',
      ],
    },
  },
  {
    id: 'kling',
    keyVariable: 'KLING_KEYS',
    key: 'access-of-kling:secret-of-kling',
    headers: { authorization: /^Bearer [\w-]+\.[\w-]+\.[\w-]+$/ },
    model: 'kling-v2-6',
    submitUrl: '/v1/videos/text2video',
    sent: '{"model_name":"kling-v2-6","prompt":"PROMPT","duration":"5","external_task_id":"REFERENCE"}',
    readUrl: '/v1/videos/text2video/JOB',
    lookUpUrl: '/v1/videos/text2video/REFERENCE',
    found: `{${KLING_JOB},"task_status":"submitted","task_info":{"external_task_id":"REFERENCE"},"created_at":1,"updated_at":1}}`,
    says: {
      accepted: [200, `{${KLING_JOB},"task_status":"submitted","created_at":1,"updated_at":1}}`],
      refused: [400, '{"code":1301,"message":"Risk control","request_id":"c0ffee"}'],
      busy: [429, '{"code":1303,"message":"Parallel task over limit","request_id":"c0ffee"}'],
      waiting: [200, `{${KLING_JOB},"task_status":"processing"}}`],
      odd: [200, `{${KLING_JOB},"task_status":"reviewing"}}`],
      done: [
        200,
        `{${KLING_JOB},"task_status":"succeed","task_result":{"videos":[{"id":"v1","url":"FILE","duration":"5.1"}]},"final_unit_deduction":"3.5"}}`,
      ],
      failed: [200, `{${KLING_JOB},"task_status":"failed","task_status_msg":"Risk control"}}`],
    },
    refusals: {
      submit: [400, '{"code":1301,"message":"Risk control","request_id":"c0ffee"}'],
      job: [
        200,
        `{${KLING_JOB},"task_status":"failed","task_status_msg":"Failure to pass the risk control system","final_unit_deduction":"3.5"}}`,
      ],
      cost: '490000',
    },
  },
  {
    id: 'luma',
    keyVariable: 'LUMA_API_KEY',
    ...PLAIN,
    model: 'ray-2',
    submitUrl: '/dream-machine/v1/generations/video',
    asked: { aspect_ratio: '16:9' },
    sent: '{"model":"ray-2","prompt":"PROMPT","duration":"5s","aspect_ratio":"16:9"}',
    readUrl: '/dream-machine/v1/generations/JOB',
    list: {
      url: '/dream-machine/v1/generations',
      page: '{"generations":[JOBS],"count":1,"has_more":false,"limit":100,"offset":0}',
    },
    found:
      '{"id":"JOB","generation_type":"video","state":"queued","failure_reason":null,"created_at":"MADE","assets":null,"model":"ray-2","request":{"generation_type":"video","prompt":"PROMPT","duration":"5s","aspect_ratio":"16:9","loop":false,"model":"ray-2"}}',
    ends: { delete: ['DELETE /dream-machine/v1/generations/JOB', [204, '']] },
    says: {
      accepted: [201, `{${LUMA_JOB},"state":"queued","failure_reason":null,"assets":null}`],
      refused: [400, '{"detail":"Prompt not allowed because of moderation"}'],
      busy: [429, '{"detail":"Too many concurrent generations"}'],
      waiting: [200, `{${LUMA_JOB},"state":"dreaming","failure_reason":null,"assets":null}`],
      odd: [200, `{${LUMA_JOB},"state":"sleeping","failure_reason":null,"assets":null}`],
      done: [
        200,
        `{${LUMA_JOB},"state":"completed","failure_reason":null,"assets":{"video":"FILE","image":null}}`,
      ],
      failed: [200, `{${LUMA_JOB},"state":"failed","failure_reason":"Moderated","assets":null}`],
    },
  },
  {
    id: 'minimax-video',
    keyVariable: 'MINIMAX_API_KEY',
    ...PLAIN,
    model: 'MiniMax-H3',
    submitUrl: '/v2/video_generation',
    sent: '{"model":"MiniMax-H3","content":[{"type":"text","text":"PROMPT"}],"duration":5}',
    readUrl: '/v2/query/video_generation/JOB',
    says: {
      accepted: [200, `{"task_id":"JOB",${GOOD}}`],
      refused: [200, '{"base_resp":{"status_code":1026,"status_msg":"input sensitive"}}'],
      busy: [200, '{"base_resp":{"status_code":1002,"status_msg":"rate limit"}}'],
      waiting: [200, `{"task":{"id":"JOB","status":"running"},${GOOD}}`],
      odd: [200, `{"task":{"id":"JOB","status":"reviewing"},${GOOD}}`],
      done: [
        200,
        `{"task":{"id":"JOB","status":"succeeded","content":{"url":"FILE"},"duration":5,"usage":{"total_seconds":5}},${GOOD}}`,
      ],
      failed: [
        200,
        `{"task":{"id":"JOB","status":"failed","error":{"code":"1027","message":"output sensitive"}},${GOOD}}`,
      ],
    },
    refusals: {
      submit: [
        422,
        '{"type":"error","error":{"type":"unprocessable_entity_error","message":"input new_sensitive (1026)","http_code":"422"},"request_id":"c0ffee"}',
      ],
      job: [
        200,
        `{"task":{"id":"JOB","status":"failed","error":{"code":"1027","message":"output new_sensitive"}},${GOOD}}`,
      ],
    },
  },
  {
    id: 'runway',
    keyVariable: 'RUNWAYML_API_SECRET',
    ...PLAIN,
    headers: { ...PLAIN.headers, 'x-runway-version': /^2024-11-06$/ },
    model: 'gen4.5',
    submitUrl: '/v1/text_to_video',
    sent: '{"model":"gen4.5","promptText":"PROMPT","duration":5}',
    readUrl: '/v1/tasks/JOB',
    ends: { cancel: ['DELETE /v1/tasks/JOB', [204, '']] },
    says: {
      accepted: [200, '{"id":"JOB"}'],
      refused: [400, '{"error":"Validation of body failed","issues":[],"docUrl":"https://a.test"}'],
      busy: [429, '{"error":"You exceeded the rate limit"}'],
      waiting: [200, '{"id":"JOB","status":"RUNNING","progress":0.4}'],
      odd: [200, '{"id":"JOB","status":"REVIEWING"}'],
      done: [200, '{"id":"JOB","status":"SUCCEEDED","output":["FILE"]}'],
      failed: [
        200,
        '{"id":"JOB","status":"FAILED","failure":"Unsafe","failureCode":"SAFETY.INPUT.TEXT"}',
      ],
    },
    refusals: {
      job: [
        200,
        '{"id":"JOB","status":"FAILED","failure":"Unsafe","failureCode":"SAFETY.OUTPUT.VIDEO"}',
      ],
    },
  },
  {
    id: 'xai-video',
    keyVariable: 'XAI_API_KEY',
    ...PLAIN,
    model: 'grok-imagine-video',
    submitUrl: '/v1/videos/generations',
    sent: '{"model":"grok-imagine-video","prompt":"PROMPT","duration":5}',
    readUrl: '/v1/videos/JOB',
    says: {
      accepted: [200, '{"request_id":"JOB"}'],
      refused: [400, '{"code":"invalid-argument","error":"No such duration"}'],
      busy: [429, '{"code":"resource-exhausted","error":"Slow down"}'],
      waiting: [202, '{"status":"pending","progress":40}'],
      odd: [200, '{"status":"reviewing"}'],
      done: [
        200,
        '{"status":"done","video":{"url":"FILE","duration":5,"respect_moderation":true},"usage":{"cost_in_usd_ticks":500000000}}',
      ],
      failed: [200, '{"status":"failed","error":{"code":"moderated","message":"No"}}'],
    },
    refusals: {
      job: [
        200,
        '{"status":"done","video":{"url":"","duration":5,"respect_moderation":false},"usage":{"cost_in_usd_ticks":500000000}}',
      ],
      cost: '50000',
    },
  },
];
