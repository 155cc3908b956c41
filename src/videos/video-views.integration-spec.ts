import { describe, expect, it } from '@jest/globals';
import { SystemClock } from '../common/time/clock.js';
import { GatewayUrl } from '../platform/http-client/gateway-url.js';
import { ContentLinks } from '../tasks/content-links/content-links.js';
import type { Task } from '../tasks/task.js';
import { viewVideoTask } from './video-task.view.js';
import { viewVideo } from './video.view.js';

const ID = '0190a6a0-7c8b-7c6d-8f3b-2a1c0d9e8f7a';
const PUBLIC_ID = 'task_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a';
const LINKS = new ContentLinks(
  { secretKeys: ['a-secret-key-for-tests-only-0123456789'], contentLinkTtlSeconds: 60 },
  new GatewayUrl('https://other.example', { host: '127.0.0.1', port: 1 }),
  new SystemClock(),
);
const URL = expect.stringMatching(
  `^https://api\\.example/v1/videos/${PUBLIC_ID}/content\\?expires=1801209700&signature=[0-9a-f]{64}$`,
);
const END = new Date(1_800_000_100_900);

const taskOf = (fields: Partial<Task>): Task => ({
  id: ID,
  accountId: ID,
  apiKeyId: ID,
  clientRequestId: null,
  run: null,
  onSandbox: true,
  kind: 'video',
  model: 'vid-omni',
  status: 'queued',
  progress: null,
  input: {},
  details: { seconds: '10', size: '1280x720', gatewayUrl: 'https://api.example' },
  stepState: {},
  provider: 'video',
  providerBaseUrl: 'http://provider.example',
  upstreamModel: 'secret-name',
  providerJobId: null,
  result: null,
  error: null,
  reservedMicroUsd: 500_000n,
  chargedMicroUsd: null,
  refundedMicroUsd: null,
  routeCostMicroUsd: null,
  costMicroUsd: null,
  basis: null,
  priceBook: null,
  content: null,
  webhook: null,
  evidence: null,
  fault: null,
  unknownState: null,
  isCancelAsked: false,
  createdAt: new Date(1_800_000_000_500),
  completedAt: null,
  ...fields,
});
const COMPLETED = taskOf({
  status: 'succeeded',
  progress: 100,
  result: {},
  chargedMicroUsd: 500_000n,
  completedAt: END,
  content: {
    fileId: ID,
    contentType: 'video/mp4',
    sizeBytes: 1,
    filename: 'a.mp4',
    expiresAt: new Date(),
  },
});
const FAILED = taskOf({
  status: 'failed',
  progress: 40,
  error: { code: 'provider_task_failed', message: 'The provider could not make the video.' },
  completedAt: END,
});
const EXPIRED = taskOf({ status: 'expired', completedAt: END });
const UNKNOWN = taskOf({ status: 'reconciliation_required', progress: 70, completedAt: END });

const QUEUED_VIDEO = {
  id: PUBLIC_ID,
  object: 'video',
  model: 'vid-omni',
  status: 'queued',
  progress: null,
  seconds: '10',
  size: '1280x720',
  created_at: 1_800_000_000,
  completed_at: null,
  expires_at: null,
  error: null,
};
const QUEUED_TASK = {
  id: PUBLIC_ID,
  object: 'task',
  status: 'queued',
  model: 'vid-omni',
  progress: null,
  created: 1_800_000_000,
  completed: null,
  cost: null,
  result: null,
  error: null,
};
const FAULT = {
  code: 'provider_task_failed',
  message: 'The provider could not make the video.',
};
const LATE = { code: 'expired', message: expect.any(String) };

describe('a video', () => {
  it.each<[string, Task, object]>([
    ['queued', taskOf({}), {}],
    [
      'processing',
      taskOf({ status: 'processing', progress: 3 }),
      { status: 'in_progress', progress: 3 },
    ],
    ['of unknown outcome', UNKNOWN, { status: 'in_progress', progress: 70 }],
    [
      'completed',
      COMPLETED,
      {
        status: 'completed',
        progress: 100,
        completed_at: 1_800_000_100,
        expires_at: 1_801_209_700,
      },
    ],
    [
      'failed',
      FAILED,
      { status: 'failed', progress: 40, completed_at: 1_800_000_100, error: FAULT },
    ],
    ['expired', EXPIRED, { status: 'failed', completed_at: 1_800_000_100, error: LATE }],
  ])('that is %s has every key, null where it has nothing to say', (_what, task, fields) => {
    expect(viewVideo(task)).toEqual({ ...QUEUED_VIDEO, ...fields });
  });

  it('has no size where none was sent', () => {
    const { size: _size, ...rest } = QUEUED_VIDEO;
    const details = { seconds: '10', size: null, gatewayUrl: 'https://api.example' };
    expect(viewVideo(taskOf({ details }))).toEqual(rest);
  });
});

describe('the task of a video', () => {
  it.each<[string, Task, object]>([
    ['queued', taskOf({}), {}],
    [
      'processing',
      taskOf({ status: 'processing', progress: 3 }),
      { status: 'in_progress', progress: 3 },
    ],
    ['of unknown outcome', UNKNOWN, { status: 'in_progress', progress: 70 }],
    [
      'completed',
      COMPLETED,
      {
        status: 'completed',
        progress: 100,
        completed: 1_800_000_100,
        cost: 0.5,
        result: { videos: [{ url: [URL], expires_at: 1_801_209_700 }] },
      },
    ],
    [
      'failed',
      FAILED,
      { status: 'failed', progress: 40, completed: 1_800_000_100, cost: 0, error: FAULT },
    ],
    ['expired', EXPIRED, { status: 'failed', completed: 1_800_000_100, cost: 0, error: LATE }],
  ])(
    'that is %s has the keys of the webhook, null before the end (HOOK-06, G-56)',
    (_w, task, fields) => {
      expect(viewVideoTask(task, LINKS)).toEqual({ ...QUEUED_TASK, ...fields });
    },
  );

  it('that an operator settled without a file names no video', () => {
    expect(viewVideoTask({ ...COMPLETED, content: null }, LINKS).result).toEqual({ videos: [] });
  });
});
