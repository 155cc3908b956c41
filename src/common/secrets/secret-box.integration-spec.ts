import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { inspect } from 'node:util';
import { SecretBox, SecretBoxError, type SecretBoxFault } from './secret-box.js';

const OLD_KEY = 'the-old-key-0123456789-0123456789-abc';
const NEW_KEY = 'the-new-key-0123456789-0123456789-abc';
const CONTEXT = 'task/1/webhook-secret';
const box = new SecretBox([NEW_KEY, OLD_KEY]);

const text = () => fc.string({ unit: 'binary' });

function faultOf(work: () => unknown): SecretBoxFault | 'none' {
  try {
    work();
    return 'none';
  } catch (error) {
    expect(error).toBeInstanceOf(SecretBoxError);
    return (error as SecretBoxError).fault;
  }
}

describe('SecretBox', () => {
  it('opens what it sealed, for any text and context', () => {
    fc.assert(
      fc.property(text(), text(), (plaintext, context) => {
        expect(box.open(box.seal(plaintext, context), context)).toBe(plaintext);
      }),
    );
  });

  it.each(['a', 'ä', '\u{1f511}'])('opens texts of 12 million letters: %s', (letter) => {
    const plaintext = letter.repeat(12_000_000);
    expect(box.open(box.seal(plaintext, CONTEXT), CONTEXT) === plaintext).toBe(true);
  });

  it.each([
    ['v2.', ''],
    ['', '='],
    ['', '\n'],
    [' ', ''],
    ['', 'é'],
    ['', 'AAAA'],
  ])('rejects a sealed text with more around it: %j, %j', (before, after) => {
    for (const plaintext of ['', 'a', 'ab', 'abc'])
      expect(
        faultOf(() => box.open(before + box.seal(plaintext, CONTEXT) + after, CONTEXT)),
      ).not.toBe('none');
  });

  it('takes one spelling of the bytes alone', () => {
    let tried = 0;
    for (let count = 0; count < 300; count += 1) {
      const sealed = box.seal('x'.repeat(count % 7), CONTEXT);
      const head = sealed.slice(0, 12);
      const plain = sealed.slice(12).replaceAll('-', '+').replaceAll('_', '/');
      if (head + plain === sealed) continue;
      tried += 1;
      expect(faultOf(() => box.open(head + plain, CONTEXT))).toBe('malformed');
    }
    expect(tried).toBeGreaterThan(100);
  });

  it('seals the same text differently each time, in ASCII', () => {
    const sealed = Array.from({ length: 100 }, () => box.seal('whsec', CONTEXT));
    expect(new Set(sealed).size).toBe(100);
    for (const one of sealed) expect(one).toMatch(/^v1\.[\w-]{8}\.[\w-]+$/);
  });

  it('opens in no other context', () => {
    fc.assert(
      fc.property(text(), text(), text(), (plaintext, context, other) => {
        fc.pre(context !== other);
        const sealed = box.seal(plaintext, context);
        expect(faultOf(() => box.open(sealed, other))).toBe('not_authentic');
      }),
    );
  });

  it('rejects a sealed text with one changed letter', () => {
    const letter = fc.constantFrom(...'abcXYZ019-_.');
    fc.assert(
      fc.property(text(), fc.nat(), letter, (plaintext, place, replacement) => {
        const sealed = box.seal(plaintext, CONTEXT);
        const at = place % sealed.length;
        fc.pre(sealed[at] !== replacement);
        const changed = sealed.slice(0, at) + replacement + sealed.slice(at + 1);
        expect(faultOf(() => box.open(changed, CONTEXT))).not.toBe('none');
      }),
    );
  });

  it('rejects a sealed text that was cut, extended or combined from two', () => {
    const [first, second] = [box.seal('a secret', CONTEXT), box.seal('b secret', CONTEXT)];
    for (const wrong of [
      first.slice(0, -1),
      `${first}A`,
      `${first}AAAA`,
      first.slice(0, 30) + second.slice(30),
      first.slice(0, 12),
      '',
      'a secret',
    ]) {
      expect(['malformed', 'not_authentic']).toContain(faultOf(() => box.open(wrong, CONTEXT)));
    }
  });

  it('opens with a former key what was sealed before the rotation, and seals with the new one', () => {
    const before = new SecretBox([OLD_KEY]);
    const after = new SecretBox([NEW_KEY]);
    expect(box.open(before.seal('whsec', CONTEXT), CONTEXT)).toBe('whsec');
    expect(after.open(box.seal('whsec', CONTEXT), CONTEXT)).toBe('whsec');
    expect(faultOf(() => before.open(box.seal('whsec', CONTEXT), CONTEXT))).toBe('unknown_key');
    expect(faultOf(() => after.open(before.seal('whsec', CONTEXT), CONTEXT))).toBe('unknown_key');
  });

  it('rejects a sealed text with the id of another key', () => {
    const [, oldId = ''] = new SecretBox([OLD_KEY]).seal('whsec', CONTEXT).split('.');
    const [version, , body] = box.seal('whsec', CONTEXT).split('.');
    const renamed = [version, oldId, body].join('.');
    expect(faultOf(() => box.open(renamed, CONTEXT))).toBe('not_authentic');
  });

  it('seals nothing without a key', () => {
    expect(faultOf(() => new SecretBox([]).seal('whsec', CONTEXT))).toBe('no_key');
  });

  it('shows neither keys nor secrets in what may be logged', () => {
    const sealed = box.seal('whsec-canary', CONTEXT);
    const failure = (): unknown => {
      try {
        return box.open(sealed, 'elsewhere');
      } catch (error) {
        return error;
      }
    };
    const shown = inspect(box, { depth: 10, showHidden: true }) + inspect(failure(), { depth: 10 });
    expect(JSON.stringify(box) + shown).not.toMatch(/whsec-canary|the-(old|new)-key/);
    expect(sealed).not.toContain('whsec-canary');
  });
});
