import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createHash } from 'node:crypto';
import { canonicalDigest } from './canonical-digest.js';
import { canonicalJson } from './json-object.js';

const atOnce = (value: unknown): string =>
  createHash('sha256').update(canonicalJson(value)).digest('base64url');

describe('canonicalDigest', () => {
  it('is the digest of the canonical JSON of any value', async () => {
    const text = fc.string({ unit: 'binary' });
    const value = fc.jsonValue({ noUnicodeString: false });
    const any = fc.oneof(value, text, fc.array(fc.option(text, { nil: undefined })));
    await fc.assert(
      fc.asyncProperty(any, async (sent) => {
        const read: unknown = JSON.parse(JSON.stringify(sent));
        expect(await canonicalDigest(read)).toBe(atOnce(read));
      }),
    );
  });

  it.each([
    ['of two code units', '😀'.repeat(100_000)],
    ['of two code units, from an odd place', `a${'😀'.repeat(100_000)}`],
    ['without their other half', '\ud800'.repeat(100_000)],
    ['that are escaped', '\n\u0001"'.repeat(50_000)],
  ])('cuts no character: a long text of characters %s', async (_which, text) => {
    expect(await canonicalDigest({ text })).toBe(atOnce({ text }));
  });

  it('lets the event loop go on while it hashes a megabyte', async () => {
    let turns = 0;
    const count = (): void => {
      turns += 1;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);
    await canonicalDigest({ text: 'a'.repeat(1_048_576) });
    clearImmediate(timer);
    expect(turns).toBeGreaterThanOrEqual(15);
  });
});
