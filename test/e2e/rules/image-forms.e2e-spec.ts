import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mutated, repeatableRandom } from '../../media/fuzz.js';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { until } from '../../support/until.js';
import {
  EDIT_MODEL,
  EDIT_TEXTS,
  EDITS_PATH,
  type FormPart,
  ImageDesk,
  ONE_IMAGE,
  PNG,
} from '../../support/image-desk.js';

const MUTATIONS = 150;

let gateway: TestGateway;
let desk: ImageDesk;

beforeAll(async () => {
  gateway = await startTestGateway();
  desk = await ImageDesk.open(gateway);
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

describe('a form of images that is sent oddly', () => {
  const wire = (parts: readonly FormPart[]): Buffer =>
    Buffer.concat([
      ...parts.flatMap(([name, value]) => [
        Buffer.from(
          `--B\r\nContent-Disposition: form-data; name="${name}"${
            typeof value === 'string' ? '' : '; filename="a.png"'
          }\r\n\r\n`,
        ),
        Buffer.from(value as string),
        Buffer.from('\r\n'),
      ]),
      Buffer.from('--B--\r\n'),
    ]);
  const head = (bytes: number): string =>
    [
      `POST ${EDITS_PATH} HTTP/1.1`,
      'Host: shim',
      `Authorization: ${desk.account.headers.authorization}`,
      'Content-Type: multipart/form-data; boundary=B',
      `Content-Length: ${bytes}`,
      '',
      '',
    ].join('\r\n');
  const open = () => {
    const { port, hostname } = new URL(gateway.url);
    return connect(Number(port), hostname).on('error', () => undefined);
  };
  const LARGE: readonly FormPart[] = [
    ...EDIT_TEXTS,
    ['image', Buffer.concat([PNG, Buffer.alloc(900_000)])],
  ];

  it('slowly is taken', async () => {
    const body = wire(ONE_IMAGE);
    const socket = open();
    let answer = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => (answer += chunk));
    socket.write(head(body.length));
    for (let at = 0; at < body.length; at += 64) {
      socket.write(body.subarray(at, at + 64));
      await sleep(20);
    }
    await until(() => answer.startsWith('HTTP/1.1 200'));
    socket.destroy();
    await until(() => desk.uploads().length === 0);
  });

  it('and left in the middle leaves no file and no hold', async () => {
    const body = wire(LARGE);
    for (const share of [0.2, 0.5, 0.999]) {
      const socket = open();
      socket.write(head(body.length));
      socket.write(body.subarray(0, Math.floor(body.length * share)));
      await until(() => desk.uploads().length > 0);
      socket.destroy();
      await until(() => desk.uploads().length === 0);
    }
    expect(await desk.held()).toBe(0n);
  });

  it('and left while the provider works leaves no file', async () => {
    const prompt = 'A [[sandbox:delay=1500]]';
    const body = wire([
      ['model', EDIT_MODEL],
      ['prompt', prompt],
      ['image', PNG],
    ]);
    const socket = open();
    socket.write(head(body.length));
    socket.write(body);
    await until(() => desk.uploads().length > 0);
    socket.destroy();
    await until(async () => (await desk.held()) === 0n);
    await until(() => desk.uploads().length === 0);
  });

  it(`with damage is answered, ${MUTATIONS} times, and leaves nothing`, async () => {
    const whole = wire(ONE_IMAGE);
    const random = repeatableRandom(1);
    for (let round = 0; round < MUTATIONS; round += 1) {
      const body = mutated(whole, whole, random);
      const answer = await fetch(gateway.url + EDITS_PATH, {
        method: 'POST',
        headers: { ...desk.account.headers, 'content-type': 'multipart/form-data; boundary=B' },
        body: body as Buffer<ArrayBuffer>,
      });
      await answer.arrayBuffer();
      expect([200, 400, 404, 413]).toContain(answer.status);
    }
    await until(() => desk.uploads().length === 0);
    expect(await desk.held()).toBe(0n);
  });
});
