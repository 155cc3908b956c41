import { describe, expect, it } from '@jest/globals';
import { traceIdOf, traceParentOf } from './trace-parent.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const VALID = `00-${TRACE}-00f067aa0ba902b7-01`;

describe('traceparent', () => {
  it('is taken as it came, and names its trace', () => {
    expect(traceParentOf(VALID)).toBe(VALID);
    expect(traceIdOf(VALID)).toBe(TRACE);
  });

  it('of a later version may have more behind it', () => {
    const later = `cc-${TRACE}-00f067aa0ba902b7-01-what-the-future-brings`;
    expect(traceParentOf(later)).toBe(later);
    expect(traceIdOf(later)).toBe(TRACE);
  });

  it.each([
    ['absent', undefined],
    ['twice', [VALID, VALID]],
    ['empty', ''],
    ['of the version that is not allowed', VALID.replace('00-', 'ff-')],
    ['of version 00 with more behind it', `${VALID}-more`],
    ['in capitals', VALID.toUpperCase()],
    ['with a trace id of zeros', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`],
    ['with a parent id of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['too short', VALID.slice(0, -1)],
    ['with something before it', ` ${VALID}`],
    ['with a line break', `${VALID}\n`],
    ['of a later version without end', `cc-${TRACE}-00f067aa0ba902b7-01-${'x'.repeat(300)}`],
  ])('is ignored where it is %s', (_what, header) => {
    expect(traceParentOf(header)).toBeUndefined();
  });
});
