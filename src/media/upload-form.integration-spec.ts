import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Request, Response } from 'express';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { GatewayError } from '../common/errors/gateway-error.js';
import { drainRejectedBody } from '../platform/http-server/request-body/drain-rejected-body.js';
import { TempFolder } from './temp-folder.js';
import { Spool } from './spool.js';
import { readUploadForm } from './upload-form.js';

const MUTATIONS = 400;
const CONTENT = 'RIFF and what follows in a recording, long enough to be cut in two.'.repeat(40);
const FORM = [
  '--B\r\nContent-Disposition: form-data; name="model"\r\n\r\naud-transcribe-v2\r\n',
  '--B\r\nContent-Disposition: form-data; name="language"\r\n\r\nen\r\n',
  `--B\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\nContent-Type: audio/wav\r\n\r\n${CONTENT}\r\n`,
  '--B--\r\n',
].join('');
/** Forms that have made multipart parsers fail before. */
const HOSTILE = [
  'name=""',
  'filename=""',
  'name="a[0]"',
  'name="__proto__"',
  '--B\r\n',
  '\0',
  '\r\n\r\n',
];

let server: Server;
let folder: TempFolder;
const gauges = new Map<string, () => number>();
const spool = new Spool(
  { spoolMaxBytes: 1_000_000_000, maxUploadsPerAccount: 1 },
  { watch: (name, _help, read) => gauges.set(name, read) },
);
let dataDir: string;
let outcome: (name: string) => void;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'shim-form-'));
  folder = new TempFolder({ dataDir });
  await folder.onModuleInit();
  server = createServer((request, response) => {
    void read(request as Request, response as Response).then((text) => {
      outcome(text);
      drainRejectedBody(request);
      response.end(text);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
  rmSync(dataDir, { recursive: true, force: true });
});

/** The outcome of the form, after the file was removed. */
async function read(request: Request, response: Response): Promise<string> {
  try {
    const { fields, upload } = await readUploadForm(request, response, folder, (bytes) =>
      spool.open('account', bytes),
    );
    const taken = upload?.take();
    const file = taken === undefined ? null : readFileSync(taken.path, 'latin1');
    await taken?.remove();
    return JSON.stringify({ ...fields, file: file === CONTENT ? 'whole' : file });
  } catch (error) {
    return error instanceof GatewayError ? error.code : String(error);
  }
}

/** Sends the head and the body, then waits for the outcome. With `cut` it leaves before the end. */
async function send(
  body: Buffer,
  length = body.length,
  cut = false,
  encoding = 'identity',
  firstBytes = 0,
): Promise<string> {
  const told = new Promise<string>((resolve) => (outcome = resolve));
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=B\r\nContent-Encoding: ${encoding}\r\nContent-Length: ${length}\r\n\r\n`;
  socket.setNoDelay().write(Buffer.concat([Buffer.from(head), body.subarray(0, firstBytes)]));
  await sleep(firstBytes === 0 ? 0 : 2);
  socket.write(body.subarray(firstBytes), () => {
    if (cut) socket.destroy();
  });
  const text = await told;
  socket.destroy();
  return text;
}

/** The same numbers every time. */
function* randoms(): Generator<number> {
  for (let state = 1; ;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state;
  }
}

function mutated(random: Generator<number>): Buffer {
  const next = (below: number): number => (random.next().value as number) % below;
  const bytes = Buffer.from(FORM);
  const at = next(bytes.length);
  switch (next(5)) {
    case 0:
      bytes.writeUInt8(next(256), at);
      return bytes;
    case 1:
      return bytes.subarray(0, at);
    case 2:
      return Buffer.concat([
        bytes.subarray(0, at),
        bytes.subarray(Math.min(at + next(90), bytes.length)),
      ]);
    case 3:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(next(at + 1))]);
    default: {
      const hostile = Buffer.from(HOSTILE[next(HOSTILE.length)] ?? '');
      return Buffer.concat([bytes.subarray(0, at), hostile, bytes.subarray(at)]);
    }
  }
}

describe('readUploadForm', () => {
  it('returns the text fields and the file of a form', async () => {
    const whole = { model: 'aud-transcribe-v2', language: 'en', file: 'whole' };
    expect(JSON.parse(await send(Buffer.from(FORM)))).toEqual(whole);
  });

  it('reads the whole form wherever it is split into two chunks', async () => {
    const bytes = Buffer.from(FORM);
    const whole = await send(bytes);
    for (let at = 1; at < bytes.length; at += at < 130 ? 1 : 97) {
      expect([at, await send(bytes, bytes.length, false, 'identity', at)]).toEqual([at, whole]);
    }
    for (let at = bytes.length - 12; at < bytes.length; at += 1) {
      expect([at, await send(bytes, bytes.length, false, 'identity', at)]).toEqual([at, whole]);
    }
  });

  it.each([1, 400_001])(
    'rejects %i bytes named file without a filename, whatever their type',
    async (length) => {
      const head =
        '--B\r\nContent-Disposition: form-data; name="file"\r\nContent-Type: audio/wav\r\n\r\n';
      const form = [Buffer.from(head), Buffer.alloc(length, 0xff), Buffer.from('\r\n--B--\r\n')];
      expect(await send(Buffer.concat(form))).toBe('audio_input_required');
    },
  );

  it('rejects a text in invalid UTF-8 wherever it is split into two chunks, and accepts U+FFFD', async () => {
    const [before, after] = FORM.split(/en(?=\r\n--B)/);
    const bytes = (text: Buffer): Buffer =>
      Buffer.concat([Buffer.from(before ?? ''), text, Buffer.from(after ?? '')]);
    const own = Buffer.from('\u{fffd}\u{fffd}');
    const broken = bytes(Buffer.concat([own, Buffer.from([0xff])]));
    const whole = { model: 'aud-transcribe-v2', language: '\u{fffd}\u{fffd}', file: 'whole' };
    for (let at = (before ?? '').length - 6; at < (before ?? '').length + 14; at += 1) {
      const outcome = await send(broken, broken.length, false, 'identity', at);
      expect([at, outcome]).toEqual([at, 'invalid_request']);
      const taken = await send(bytes(own), broken.length - 1, false, 'identity', at);
      expect([at, JSON.parse(taken)]).toEqual([at, whole]);
    }
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it('rejects a body that declares more than the maximum size of a form, without reading it', async () => {
    expect(await send(Buffer.from('--B'), 70_000_000)).toBe('request_too_large');
  });

  it('rejects a compressed form, as compressed JSON is rejected', async () => {
    const zipped = gzipSync(FORM);
    expect(await send(zipped, zipped.length, false, 'gzip')).toBe('invalid_request');
    expect(await send(Buffer.from(FORM), FORM.length, false, 'gzip')).toBe('invalid_request');
  });

  it('rejects an endless body that never becomes a form', async () => {
    const told = new Promise<string>((resolve) => (outcome = resolve));
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=B\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    const chunk = Buffer.concat([
      Buffer.from('100000\r\n'),
      Buffer.alloc(0x100000),
      Buffer.from('\r\n'),
    ]);
    const more = (): void => {
      if (!socket.destroyed) socket.write(chunk, more);
    };
    more();
    expect(await told).toBe('request_too_large');
    socket.destroy();
  });

  it.each([10, 200, 400, FORM.length - 20])(
    'leaves no file when the client leaves after %i bytes',
    async (bytes) => {
      const head = Buffer.from(FORM).subarray(0, bytes);
      expect(await send(head, FORM.length, true)).toBe('invalid_multipart');
      expect(readdirSync(folder.path)).toEqual([]);
    },
  );

  it(`survives ${MUTATIONS} damaged forms, reports each at once, and leaves no file`, async () => {
    const random = randoms();
    const outcomes = new Map<string, number>();
    for (let index = 0; index < MUTATIONS; index++) {
      const text = await send(mutated(random));
      const kind = text.startsWith('{') ? 'taken' : text;
      outcomes.set(kind, (outcomes.get(kind) ?? 0) + 1);
    }
    expect([...outcomes.keys()].sort()).toEqual(['invalid_multipart', 'invalid_request', 'taken']);
    expect(readdirSync(folder.path)).toEqual([]);
    expect([...gauges.values()].map((read) => read())).toEqual([0, 0]);
  });
});
