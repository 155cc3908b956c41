import { describe, expect, it } from '@jest/globals';
import { loggableError, redactText } from './logger.js';

describe('redactText', () => {
  it.each([
    ['key sk-0123456789abcdefXYZ of', 'key sk-[redacted] of'],
    ['sk-proj-0123456789_abcdef-XY!', 'sk-[redacted]!'],
    ['postgres://shim:s3cret@db:5432/shim', 'postgres://[redacted]@db:5432/shim'],
    ['postgres://shim:s3c@ret@db/shim', 'postgres://[redacted]@db/shim'],
    ['redis://:s3cret@cache:6379/0', 'redis://[redacted]@cache:6379/0'],
    ['one http://a:b@c/ two http://d:e@f/', 'one http://[redacted]@c/ two http://[redacted]@f/'],
  ])('hides what is secret in %j', (text, redacted) => {
    expect(redactText(text)).toBe(redacted);
  });

  it.each(['connect ECONNREFUSED 127.0.0.1:5432', 'see https://host/path@2', 'sk-short', 'ask-me'])(
    'leaves %j alone',
    (text) => {
      expect(redactText(text)).toBe(text);
    },
  );
});

describe('loggableError', () => {
  it('tells name, code, message, stack and causes, and nothing else an error carries', () => {
    const request = { headers: { authorization: 'Bearer secret' } };
    const cause = Object.assign(new Error('at http://u:p@host/'), { request });
    const error = Object.assign(new TypeError('broken', { cause }), { code: 'E_BROKEN', request });
    const told = loggableError(error);
    expect(told).toEqual({
      type: 'TypeError',
      message: 'broken',
      code: 'E_BROKEN',
      stack: expect.stringContaining('TypeError: broken'),
      cause: {
        type: 'Error',
        message: 'at http://[redacted]@host/',
        stack: expect.stringContaining('[redacted]@host'),
      },
    });
    expect(JSON.stringify(told)).not.toMatch(/secret|u:p/);
  });

  it('ends in a chain of causes that never ends', () => {
    const error = new Error('round');
    error.cause = error;
    expect(JSON.stringify(loggableError(error)).match(/"round"/g)).toHaveLength(4);
  });

  it.each([undefined, null, 'sk-0123456789abcdefXYZ', { key: 'secret' }])(
    'does not tell what was thrown where it is no error: %j',
    (thrown) => {
      expect(loggableError(thrown)).toEqual({ type: typeof thrown });
    },
  );
});
