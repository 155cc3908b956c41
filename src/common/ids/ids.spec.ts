import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fromPublicId, toPublicId } from './public-id.js';
import { uuidV7 } from './uuid-v7.js';

describe('uuidV7', () => {
  it('is a version 7 UUID', () => {
    expect(uuidV7(1_800_000_000_000)).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  });

  it('sorts by time', () => {
    fc.assert(
      fc.property(fc.nat(2 ** 40), fc.integer({ min: 1, max: 1e9 }), (start, later) => {
        expect(uuidV7(start) < uuidV7(start + later)).toBe(true);
      }),
    );
  });

  it('never repeats', () => {
    const made = new Set(Array.from({ length: 20_000 }, () => uuidV7(1)));
    expect(made.size).toBe(20_000);
  });
});

describe('public ids', () => {
  it('are converted back to their UUID', () => {
    fc.assert(
      fc.property(fc.uuid(), (uuid) => {
        expect(fromPublicId('exec', toPublicId('exec', uuid))).toBe(uuid);
      }),
    );
  });

  it.each([
    '',
    'exec_',
    'task_00000000000000000000000000000000',
    'exec_xyz',
    'exec_' + '0'.repeat(33),
  ])('are refused as %p', (text) => {
    expect(fromPublicId('exec', text)).toBeUndefined();
  });
});
