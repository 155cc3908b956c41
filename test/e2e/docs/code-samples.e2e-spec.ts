import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { toPublicId } from '../../../src/common/ids/public-id.js';
import { ConsoleBrowser } from '../../support/console-browser.js';
import { ADMIN_TOKEN, startTestGateway, type TestGateway } from '../../support/gateway.js';
import { PNG } from '../../support/image-desk.js';
import { PythonSamples } from '../../support/python-samples.js';
import { BRISK } from '../../support/video-harness.js';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.js';

const START_MS = 120_000;
const ALL_OPERATIONS_MS = 600_000;
const METRICS_TOKEN = 'metrics-token-0123456789';

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly example?: object }>> }>
  >;
  readonly 'x-codeSamples': readonly { readonly label: string; readonly source: string }[];
}
type Document = Readonly<
  Record<'paths', Readonly<Record<string, Readonly<Record<string, Operation>>>>>
>;
interface Made {
  readonly id: string;
}

/** How a sample is run: the program, and the arguments before its text. */
const PROGRAMS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  // Without the option it runs the person's own settings, because its input is a socket.
  curl: ['bash', '--norc', '-c'],
  'Node.js': [process.execPath, '--input-type=module', '-e'],
  Python: ['python3', '-c'],
};

/** Whether the machine has Python and its module `requests`. */
function hasRequests(): boolean {
  try {
    execFileSync('python3', ['-c', 'import requests'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** These calls arrive and are refused: the task had been sent to the provider, the response is not made in the background. */
const REFUSED: Readonly<Record<string, RegExp>> = {
  cancelTask: /409|task_not_cancellable/,
  cancelResponse: /400|background: true/,
};

let gateway: TestGateway;
let receiver: WebhookReceiver;
let folder: string;
let python: PythonSamples | undefined;
let operations: readonly Operation[];

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  gateway = await startTestGateway({ ...BRISK, ...receiver.settings, METRICS_TOKEN });
  folder = await mkdtemp(join(tmpdir(), 'shim-samples-'));
  await writeFile(join(folder, 'picture.png'), PNG);
  const document = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as Document;
  operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
}, START_MS);
afterAll(async () => {
  await python?.stop();
  await gateway.stop();
  await receiver.stop();
  await rm(folder, { recursive: true, force: true });
});

/** What a program wrote, and its exit code. */
async function run(label: string, source: string, env: NodeJS.ProcessEnv) {
  if (label === 'Python') return (python ??= new PythonSamples(folder, env)).run(source);
  const [program = '', ...options] = PROGRAMS[label] ?? [];
  return new Promise<{ code: unknown; text: string }>((resolve) => {
    execFile(program, [...options, source], { cwd: folder, env }, (error, stdout, stderr) => {
      resolve({ code: error ? error.code : 0, text: stdout + (error ? stderr : '') });
    });
  });
}

/** Things of an account of its own, with the ids that the samples are to name. */
async function prepare() {
  const account = await gateway.account(undefined, { scopes: ['read', 'call', 'manage'] });
  const headers = { ...account.headers, 'content-type': 'application/json' };
  const post = async (path: string, body: object, more: object = {}) => {
    const sent = { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) };
    const response = await fetch(`${gateway.url}${path}`, sent);
    return { response, made: () => response.json() as Promise<Made> };
  };
  const ended = async (id: string) => {
    for (let status = 'queued'; /queued|progress|processing/.test(status);) {
      const waiting = { headers: { ...account.headers, prefer: 'wait=30' } };
      const read = await fetch(`${gateway.url}/v1/tasks/${id}`, waiting);
      ({ status } = (await read.json()) as { status: string });
    }
    return id;
  };
  const submitted = async (path: string, body: object) =>
    ended((await (await post(path, body)).made()).id);
  const said = { model: 'aud-v4', input: 'Hi.', voice: 'Adam' };
  const speech = await post('/v1/audio/speech', said, { 'x-gateway-run': 'build-42' });
  await speech.response.arrayBuffer();
  const chat = { model: 'gen-5-mini', messages: [{ role: 'user', content: 'Hi' }] };
  const answered = await post('/v1/chat/completions', chat, { prefer: 'keep' });
  await answered.response.arrayBuffer();
  const media = `${gateway.url}/sandbox/media/recording.mp3`;
  const dub = await submitted('/v1/audio/dubbing', {
    ...{ model: 'aud-dubbing-v1', source_url: media, target_language: 'es' },
    ...{ webhook: receiver.url, webhook_secret: 'x'.repeat(32) },
  });
  const unclear = await submitted('/v1/music/generations', {
    ...{ model: 'song-music', prompt: 'A song [[sandbox:no-result]]' },
  });
  const video = await submitted('/v1/videos', {
    model: 'vid-motion',
    prompt: 'A lighthouse',
    seconds: '5',
    aspect_ratio: '16:9',
  });
  const events = { url: receiver.url, secret: 'x'.repeat(32), events: ['balance.low'] };
  const newEndpoint = async () => (await (await post('/v1/webhook-endpoints', events)).made()).id;
  await new ConsoleBrowser(gateway.url).signIn({ api_key: account.key });
  const admin = { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } };
  const sessions = await fetch(`${gateway.url}/admin/sessions`, admin);
  const session = ((await sessions.json()) as { data: readonly Made[] }).data[0]?.id ?? 'none';
  const endpoint = await newEndpoint();
  const operatorsEndpoint = await newEndpoint();
  const madeKey = (await (await post('/v1/keys', {})).made()).id;
  const asked = { model: 'gen-5-mini', input: 'Hi' };
  const stored = (await (await post('/v1/responses', asked)).made()).id;
  const deliveries = await fetch(`${gateway.url}/v1/tasks/${dub}/deliveries`, account);
  const { data } = (await deliveries.json()) as { data: readonly Made[] };
  const execution = speech.response.headers.get('x-gateway-execution-id') ?? 'none';
  const kept = answered.response.headers.get('x-gateway-execution-id') ?? 'none';
  const accountId = toPublicId('acct', account.accountId);
  return {
    key: account.key,
    accountId,
    madeKey,
    endpoint,
    operatorsEndpoint,
    session,
    execution,
    kept,
    dub,
    unclear,
    video,
    stored,
    delivery: data[0]?.id ?? 'none',
  };
}

describe('the samples of the served OpenAPI document', () => {
  it('are three for each operation, and call this gateway', () => {
    for (const { operationId: id, 'x-codeSamples': samples } of operations) {
      expect([id, samples.map(({ label }) => label)]).toEqual([id, Object.keys(PROGRAMS)]);
      for (const { source } of samples) expect(source).toContain(gateway.url);
    }
  });

  it.each(Object.keys(PROGRAMS).filter((label) => label !== 'Python' || hasRequests()))(
    'run as they stand, with ids of things that exist, and answer the fields of their examples: %s',
    async (label) => {
      const made = await prepare();
      const { key, accountId, madeKey, execution, dub, unclear, video, delivery } = made;
      const keyId = await newKey(accountId);
      // The last calls change what the others need or answer.
      const last = [
        'refundTask',
        'rotateKey',
        'revokeKey',
        'revokeAdminKey',
        'deleteWebhookEndpoint',
        'deleteAdminWebhookEndpoint',
        'deleteAdminPriceBook',
        'deleteResponse',
      ];
      const order = [
        ...operations.filter(({ operationId: id }) => !last.includes(id)),
        ...operations.filter(({ operationId: id }) => last.includes(id)),
      ];
      const { PATH } = process.env;
      const environment = { PATH, KEY: key, ADMIN_TOKEN, METRICS_TOKEN };
      const failed: string[] = [];
      const answered: [string, string[]][] = [];
      const told: [string, string[]][] = [];
      for (const { operationId: id, 'x-codeSamples': samples, responses } of order) {
        const task = id === 'resolveTask' ? unclear : dub;
        const { source = '' } = samples.find((sample) => sample.label === label) ?? {};
        const filled = source
          .replace(/(\/videos\/)task_0193\w+/, `$1${video}`)
          .replace(/task_0193\w+/, task)
          .replace(/exec_0193\w+(?=\/content)/, made.kept)
          .replace(/exec_0193\w+/, execution)
          .replace(/acct_0193\w+/, accountId)
          .replace(/(\/v1\/keys\/)key_0193\w+/, `$1${madeKey}`)
          .replace(/key_0193\w+/, id === 'revokeAdminKey' ? await newKey(accountId) : keyId)
          .replace(/resp_0193\w+/, made.stored)
          .replace(/ses_0193\w+/, made.session)
          .replace(/whd_0193\w+/, delivery)
          .replace(/whe_0193\w+/, id.includes('Admin') ? made.operatorsEndpoint : made.endpoint);
        const { code, text } = await run(label, filled, environment);
        const refusal = REFUSED[id];
        const isRight = refusal ? refusal.test(text) : code === 0;
        if (!isRight) failed.push(`${id}: ${text}`);
        const example = exampleOf(responses);
        if (label !== 'curl' || code !== 0 || !example) continue;
        answered.push([id, fieldsOf(JSON.parse(text) as object)]);
        told.push([id, fieldsOf(example)]);
      }
      expect(failed).toEqual([]);
      expect(answered).toEqual(told);
    },
    ALL_OPERATIONS_MS,
  );
});

/** The written example of a success in JSON. */
const FILE_TYPE = 'application/octet-stream';

function exampleOf(responses: Operation['responses']): object | undefined {
  const [, success] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
  const { content = {} } = success ?? {};
  // The sample writes a file, of whatever type it is.
  return FILE_TYPE in content ? undefined : content['application/json']?.example;
}

const fieldsOf = (answer: object): string[] => Object.keys(answer).sort();

async function newKey(accountId: string): Promise<string> {
  const response = await fetch(`${gateway.url}/admin/accounts/${accountId}/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    body: '{}',
  });
  return ((await response.json()) as Made).id;
}
