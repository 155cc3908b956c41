import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { VectorBoundsError, VectorScanner } from './vector-scanner.js';

const base64Of = (numbers: readonly number[]): string =>
  Buffer.from(Float32Array.from(numbers).buffer).toString('base64');

const EXPECTED = 600;

/** What a scanner makes of a JSON text that arrives in chunks of these sizes. */
function scanned(text: string, sizes: readonly number[] = [text.length]) {
  const scanner = new VectorScanner(EXPECTED);
  const bytes = Buffer.from(text);
  let at = 0;
  for (let turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    scanner.add(bytes.subarray(at, at + size));
    at += size;
  }
  const rest = JSON.parse(scanner.rest().toString()) as Record<string, unknown>;
  return { rest, vectorOf: (value: unknown) => scanner.vectorOf(value) };
}

/** The vector of `{"v": …}` as plain numbers; undefined if it is none. */
function vectorIn(text: string): number[] | undefined {
  const { rest, vectorOf } = scanned(text);
  const vector = vectorOf(rest.v);
  return vector && [...vector];
}

const number = fc
  .double({ noNaN: true, min: -1e30, max: 1e30 })
  .map((value) => (Object.is(value, -0) ? 0 : value));
const numbers = fc.array(number, { minLength: 1, maxLength: 400 });
const sizes = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 5 });
const name = fc.string().filter((text) => text !== '__proto__');

describe('VectorScanner', () => {
  it('finds the vectors of any JSON, wherever its chunks begin', () => {
    const item = fc.record({
      words: fc.string({ maxLength: 2_000 }),
      nested: fc.dictionary(name, fc.oneof(fc.string(), fc.boolean(), fc.constant(null))),
      numbers,
      isBase64: fc.boolean(),
    });
    const indent = fc.constantFrom(undefined, 1, '\t');
    fc.assert(
      fc.property(fc.array(item, { maxLength: 8 }), sizes, indent, (items, chunks, space) => {
        const sent = items.map(({ words, nested, numbers: of, isBase64 }) => ({
          words,
          vector: isBase64 ? base64Of(of) : of,
          nested,
        }));
        const { rest, vectorOf } = scanned(JSON.stringify({ data: sent }, null, space), chunks);
        const read = rest.data as typeof sent;
        expect(read.map(({ words, nested }) => ({ words, nested }))).toEqual(
          items.map(({ words, nested }) => ({ words, nested })),
        );
        expect(read.map(({ vector }) => [...(vectorOf(vector) ?? [])])).toEqual(
          items.map(({ numbers: of, isBase64 }) => (isBase64 ? [...Float32Array.from(of)] : of)),
        );
      }),
    );
  });

  it.each([
    ['numbers as they are written', '{"v":[0.1,-2E-3, 7 ]}', [0.1, -0.002, 7]],
    ['numbers over many lines', '{"v": [\n  0.5,\r\n\t-1\n]}', [0.5, -1]],
  ])('reads %s', (_what, text, expected) => {
    expect(vectorIn(text)).toEqual(expected);
  });

  it('reads base64 whose slashes are escaped', () => {
    const [slashes = 0] = new Float32Array(Uint8Array.of(0xff, 0xff, 0x00, 0x3f).buffer);
    const vector = Array.from({ length: 300 }, () => slashes);
    const text = base64Of(vector);
    expect(text).toContain('/');
    expect(vectorIn(`{"v":"${text.replaceAll('/', '\\/')}"}`)).toEqual(vector);
  });

  it.each([
    ['no numbers', '{"v":[]}'],
    ['a text among them', '{"v":[1,"2"]}'],
    ['a null among them', '{"v":[1,null]}'],
    ['a list among them', '{"v":[1,[2]]}'],
    ['a number beyond all bounds', '{"v":[1,1e999]}'],
    ['a number beyond 32 bits', '{"v":[1,1e39]}'],
    ['a number', '{"v":0}'],
    ['base64 of no whole number', '{"v":"AAAA"}'],
    ['base64 of NaN', `{"v":"${base64Of([1, Number.NaN])}"}`],
    ['base64 of infinity', `{"v":"${base64Of([Number.POSITIVE_INFINITY])}"}`],
    ['long base64 of NaN', `{"v":"${base64Of(Array.from({ length: 900 }, () => Number.NaN))}"}`],
    ['foreign characters in base64', '{"v":"AAAA!AAAA"}'],
    ['an empty text', '{"v":""}'],
  ])('finds no vector in %s', (_what, text) => {
    expect(vectorIn(text)).toBe(undefined);
  });

  it.each(['{"v":[1,NaN]}', '{"v":[1,]}', '{"v":[1', '{"v":"AAAA', '{"v":[01]}'])(
    'leaves %s to be refused as JSON',
    (text) => {
      expect(() => scanned(text)).toThrow(SyntaxError);
    },
  );

  it.each([
    ['a list', `{"v":[${'0.5,'.repeat(300_000)}0]}`],
    ['a text', `{"v":"${'A'.repeat(1_100_000)}"}`],
    ['what is no vector', `{"v":${' '.repeat(2_100_000)}0}`],
    ['the number of vectors', `{"v":[${'[1],'.repeat(700)}0]}`],
    [
      'all vectors together',
      `{"v":[${Array.from({ length: 600 }, () => `[${'0,'.repeat(16_000)}0]`).join(',')}]}`,
    ],
  ])('stops at %s beyond the bounds', (_what, text) => {
    expect(() => scanned(text, [65_536])).toThrow(VectorBoundsError);
  });
});
