import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AudioHarness } from '../../support/audio-harness.js';
import { TRANSCRIPTION } from '../../support/audio-operations.js';

const LIMIT_BYTES = 52_428_800;

let harness: AudioHarness;
beforeAll(async () => {
  harness = await AudioHarness.open();
});
afterAll(() => harness.close());

describe('a form that is refused', () => {
  it('of a stranger is answered before its file is sent', async () => {
    const socket = connect(Number(new URL(harness.gateway.url).port), '127.0.0.1');
    socket.write(
      `POST ${TRANSCRIPTION.path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer sk-none\r\n` +
        `Content-Type: multipart/form-data; boundary=B\r\nContent-Length: ${LIMIT_BYTES}\r\n\r\n`,
    );
    const [head] = (await once(socket, 'data')) as [Buffer];
    expect(head.toString()).toMatch(/^HTTP\/1.1 401 /);
    await once(socket, 'close');
  });

  it('is answered even where the client reads only after it has sent all', async () => {
    const script = `
      const body = Buffer.alloc(20_000_000);
      for (let round = 0; round < 5; round++) {
        const { status } = await fetch(process.argv[1], {
          method: 'POST',
          headers: { authorization: process.argv[2], 'content-type': process.argv[3] },
          body,
        });
        process.stdout.write(status + ' ');
      }`;
    // In a process of its own: within this one the client would never be cut in the middle of a write.
    const statuses = async (key: string, type: string): Promise<string> => {
      const argv = ['--input-type=module', '-e', script, harness.url(TRANSCRIPTION), key, type];
      return (await promisify(execFile)(process.execPath, argv)).stdout.trim();
    };
    const { authorization } = harness.account.headers;
    expect(await statuses('Bearer sk-none', 'multipart/form-data; boundary=B')).toBe(
      '401 401 401 401 401',
    );
    expect(await statuses(authorization, 'text/plain')).toBe('400 400 400 400 400');
    expect(await statuses(authorization, 'application/json')).toBe('413 413 413 413 413');
  });
});
