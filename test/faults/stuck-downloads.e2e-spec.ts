import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { toPublicId } from '../../src/common/ids/public-id.js';
import { FILE_STORE, type FileStore } from '../../src/platform/storage/file-store.port.js';
import { StoredFiles } from '../../src/platform/storage/stored-files.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.js';
import { type S3Server, startS3Server } from '../support/s3-server.js';
import { DAY_MS } from '../../src/common/time/spans.js';

const BYTES = randomBytes(200_000);
/** What comes of each answer of S3 while it is stuck. */
const STUCK_AFTER_BYTES = 8_000;

let s3: S3Server;
let proxy: Server;
let isStuck = false;
const sockets = new Set<Socket>();
let gateway: TestGateway;
const agent = new Agent({ maxSockets: Infinity });

beforeAll(async () => {
  s3 = await startS3Server();
  proxy = createServer((client) => {
    const upstream = connect(Number(new URL(s3.endpoint).port), '127.0.0.1');
    client.pipe(upstream);
    let passed = 0;
    upstream.on('data', (piece: Buffer) => {
      client.write(piece);
      passed += piece.length;
      if (isStuck && passed > STUCK_AFTER_BYTES) upstream.pause();
    });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket
        .on('error', () => undefined)
        .on('close', () => {
          client.destroy();
          upstream.destroy();
        });
    }
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  gateway = await startTestGateway({
    STORAGE_URL: `s3://${s3.bucket}/files`,
    S3_ENDPOINT: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
  });
});
afterAll(async () => {
  agent.destroy();
  await gateway.stop();
  for (const socket of sockets) socket.destroy();
  proxy.close();
  await s3.stop();
});

function save(accountId: string) {
  return gateway.app.get(StoredFiles).save({
    accountId,
    ownerId: randomUUID(),
    contentType: 'audio/mpeg',
    body: Readable.from([BYTES]),
    maxBytes: BYTES.length,
    expiresAt: new Date(Date.now() + DAY_MS),
  });
}

/** The path of the file of a finished dub. */
async function pathOf({ accountId }: TestAccount): Promise<string> {
  const { id: fileId, sizeBytes, expiresAt } = await save(accountId);
  const id = randomUUID();
  const content = { fileId, contentType: 'audio/mpeg', sizeBytes, filename: 'a.mp3', expiresAt };
  await gateway.dataSource.query(
    `INSERT INTO task (account_id, id, kind, modality, model, details, provider, provider_base_url, on_sandbox,
                       upstream_model, reserved, status, result, charged, completed_at, content)
     VALUES ($1, $2, 'dubbing', 'audio', 'aud-dubbing-v1', '{}', 'elevenlabs', 'http://x', true,
             'dubbing_v1', 1, 'succeeded', '{}', 1, now(), $3)`,
    [accountId, id, JSON.stringify(content)],
  );
  return `/v1/tasks/${toPublicId('task', id)}/content`;
}

/** The head of a download, of which nothing more is read. */
function begin({ headers }: TestAccount, path: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(gateway.url + path, { headers, agent }, (answer) => {
      answer.on('error', () => undefined);
      resolve(answer);
    }).once('error', reject);
  });
}

async function bodyOf(answer: IncomingMessage): Promise<Buffer> {
  return Buffer.concat((await answer.toArray()) as Buffer[]);
}

describe('downloads of one account that do not get on', () => {
  it('are refused beyond its share, and neither the files of others nor a new file wait for them', async () => {
    const [greedy, other] = [await gateway.account(), await gateway.account()];
    const [path, otherPath] = [await pathOf(greedy), await pathOf(other)];
    const { perAccount } = gateway.app.get<FileStore>(FILE_STORE).readers;
    isStuck = true;
    const stuck = await Promise.all(Array.from({ length: perAccount }, () => begin(greedy, path)));
    expect(new Set(stuck.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
    const refused = await begin(greedy, path);
    expect(refused.statusCode).toBe(429);
    expect(refused.headers['retry-after']).toBe('1');
    expect(JSON.parse((await bodyOf(refused)).toString())).toMatchObject({
      error: { code: 'rate_limit_exceeded', type: 'rate_limit_error' },
    });
    isStuck = false;
    const whole = await begin(other, otherPath);
    expect(await bodyOf(whole)).toEqual(BYTES);
    expect((await save(greedy.accountId)).sizeBytes).toBe(BYTES.length);
    stuck[0]?.destroy();
    let again = await begin(greedy, path);
    while (again.statusCode === 429) {
      again.resume();
      again = await begin(greedy, path);
    }
    expect(await bodyOf(again)).toEqual(BYTES);
    for (const answer of stuck) answer.destroy();
  });
});
