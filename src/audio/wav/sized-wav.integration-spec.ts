import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { pcmBytes, riffChunk, wavFormat, wavOf } from '../../../test/media/wav-file.js';
import { TempFolder } from '../../media/temp-folder.js';
import { Spool } from '../../media/spool.js';
import { MAX_HELD_BYTES, SizedWav } from './sized-wav.js';

const MIB = 1024 * 1024;
const UNKNOWN = 0xffff_ffff;
const SAMPLES = pcmBytes(1_000);
const LIST = riffChunk('LIST', Buffer.from('INFOISFT\x04\0\0\0shim'));

let folder: TempFolder;
let inUse: () => number;

beforeAll(async () => {
  folder = new TempFolder({ dataDir: mkdtempSync(join(tmpdir(), 'shim-wav-')) });
  await folder.onModuleInit();
});
afterAll(() => folder.onModuleDestroy());

/** What comes out of chunks, with a spool of so many bytes, half of them for the account. */
async function sentOf(chunks: readonly Buffer[], spoolMaxBytes = 64 * MIB): Promise<Buffer> {
  const watch = (name: string, _help: string, read: () => number) => {
    if (name === 'gateway_spool_bytes') inUse = read;
  };
  const spool = new Spool({ spoolMaxBytes, maxUploadsPerAccount: 1 }, { watch });
  const file = await new SizedWav(folder, spool).of(
    Readable.from(chunks, { objectMode: false }),
    'account',
  );
  const pieces: Buffer[] = [];
  for await (const piece of file) pieces.push(piece as Buffer);
  while (inUse() > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(readdirSync(folder.path)).toEqual([]);
  return Buffer.concat(pieces);
}

/** The file in pieces as a socket gives them. */
const inPieces = (file: Buffer, bytes = 700): Buffer[] =>
  Array.from({ length: Math.ceil(file.length / bytes) }, (_, at) =>
    file.subarray(at * bytes, (at + 1) * bytes),
  );
const riffSize = (file: Buffer): number => file.readUInt32LE(4);
const dataSize = (file: Buffer): number => file.readUInt32LE(file.indexOf('data') + 4);
const told = (size: number, ...others: Buffer[]): Buffer =>
  wavOf([...others, wavFormat(), riffChunk('data', SAMPLES, size)], { size });

describe('a WAV of a provider', () => {
  it.each([0, 0x7fff_ffff, UNKNOWN, 0xffff_ffdb, 36, 1_000_000])(
    'with declared sizes of %i gets its correct sizes',
    async (size) => {
      const sent = await sentOf(inPieces(told(size)));
      expect(dataSize(sent)).toBe(SAMPLES.length);
      expect(riffSize(sent)).toBe(sent.length - 8);
      expect(sent.subarray(44)).toEqual(SAMPLES);
    },
  );

  it('with true sizes is not changed, whatever chunks surround its samples', async () => {
    for (const chunks of [
      [wavFormat(), riffChunk('data', SAMPLES)],
      [LIST, wavFormat(), LIST, riffChunk('data', SAMPLES), LIST],
      [wavFormat(), riffChunk('data', Buffer.alloc(0))],
    ]) {
      const file = wavOf(chunks);
      expect(await sentOf(inPieces(file))).toEqual(file);
    }
  });

  it('with chunks before its samples gets the true sizes', async () => {
    const sent = await sentOf(inPieces(told(UNKNOWN, LIST)));
    expect([dataSize(sent), riffSize(sent)]).toEqual([SAMPLES.length, sent.length - 8]);
  });

  it('gets a correct outer size if only that is a placeholder, and keeps the following chunks', async () => {
    const file = wavOf([wavFormat(), riffChunk('data', SAMPLES), LIST], { size: UNKNOWN });
    const sent = await sentOf(inPieces(file));
    expect([dataSize(sent), riffSize(sent)]).toEqual([SAMPLES.length, file.length - 8]);
    expect(sent.subarray(8)).toEqual(file.subarray(8));
  });

  it('with samples of an odd size is padded to an even one', async () => {
    const odd = SAMPLES.subarray(1);
    const file = wavOf([wavFormat({ bits: 8 }), riffChunk('data', odd, UNKNOWN)]).subarray(0, -1);
    const sent = await sentOf(inPieces(file));
    expect(sent.length).toBe(file.length + 1);
    expect([dataSize(sent), riffSize(sent)]).toEqual([odd.length, sent.length - 8]);
  });

  it('with sizes of 64 bits becomes a plain one', async () => {
    for (const long of [BigInt(SAMPLES.length), 0n, 0xffff_ffff_ffff_ffffn]) {
      const sizes = Buffer.alloc(28);
      sizes.writeBigUInt64LE(long, 8);
      const chunks = [riffChunk('ds64', sizes), wavFormat(), riffChunk('data', SAMPLES, UNKNOWN)];
      const sent = await sentOf(inPieces(wavOf(chunks, { id: 'RF64', size: UNKNOWN })));
      expect(sent.toString('latin1', 0, 16)).toMatch(/^RIFF....WAVEJUNK$/s);
      expect([dataSize(sent), riffSize(sent)]).toEqual([SAMPLES.length, sent.length - 8]);
    }
  });

  it('above the held size is sent as it arrives, with unknown sizes', async () => {
    const piece = Buffer.alloc(MIB, 1);
    const count = MAX_HELD_BYTES / MIB + 1;
    const head = told(0x7fff_ffff).subarray(0, 44);
    const sent = await sentOf([head, ...Array.from({ length: count }, () => piece)]);
    expect([dataSize(sent), riffSize(sent)]).toEqual([UNKNOWN, UNKNOWN]);
    expect(sent.length).toBe(44 + count * MIB);
    expect(sent.subarray(44).every((byte) => byte === 1)).toBe(true);
  });

  it.each([0, 50, 1_500])(
    'that exceeds a spool quota of %i bytes is sent with unknown sizes',
    async (room) => {
      const file = told(0x7fff_ffff, LIST);
      for (const bytes of [20, 700]) {
        const sent = await sentOf(inPieces(file, bytes), 2 * room);
        expect([dataSize(sent), riffSize(sent)]).toEqual([UNKNOWN, UNKNOWN]);
        expect(sent.subarray(-SAMPLES.length)).toEqual(SAMPLES);
        expect(sent.length).toBe(file.length);
      }
    },
  );

  it('without samples that can be found is not changed', async () => {
    const file = wavOf([wavFormat(), LIST], { size: UNKNOWN });
    expect(await sentOf(inPieces(file))).toEqual(file);
  });

  it('that breaks while it is held fails, and releases its reservation', async () => {
    const breaks = Readable.from(
      (function* () {
        yield told(UNKNOWN);
        throw new Error('broken');
      })(),
    );
    const spool = new Spool(
      { spoolMaxBytes: MIB, maxUploadsPerAccount: 1 },
      {
        watch: (name: string, _help: string, read: () => number) => {
          if (name === 'gateway_spool_bytes') inUse = read;
        },
      },
    );
    await expect(new SizedWav(folder, spool).of(breaks, 'account')).rejects.toThrow('broken');
    expect(inUse()).toBe(0);
  });
});
