import { describe, expect, it } from '@jest/globals';
import { redactText } from '../../common/secrets/redact-text.js';
import { loggableError, makeLogger } from './logger.js';

describe('redactText', () => {
  it.each([
    ['key sk-0123456789abcdefXYZ of', 'key sk-[redacted] of'],
    ['sk-proj-0123456789_abcdef-XY!', 'sk-[redacted]!'],
    ['postgres://shim:s3cret@db:5432/shim', 'postgres://[redacted]@db:5432/shim'],
    ['postgres://shim:s3c@ret@db/shim', 'postgres://[redacted]@db/shim'],
    ['redis://:s3cret@cache:6379/0', 'redis://[redacted]@cache:6379/0'],
    [
      'GET /v1/videos/task_1/content?expires=17&signature=0123456789abcdef0123',
      'GET /v1/videos/task_1/content?expires=17&signature=[redacted]',
    ],
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
  it('contains name, code, message, stack and causes of an error, and nothing else', () => {
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

  it('cuts an endless chain of causes', () => {
    const error = new Error('round');
    error.cause = error;
    expect(JSON.stringify(loggableError(error)).match(/"round"/g)).toHaveLength(4);
  });

  it.each([undefined, null, 'sk-0123456789abcdefXYZ', { key: 'secret' }])(
    'does not contain a thrown value that is not an error: %j',
    (thrown) => {
      expect(loggableError(thrown)).toEqual({ type: typeof thrown });
    },
  );
});

describe('makeLogger', () => {
  const KEY = 'sk-0123456789abcdefXYZ';

  function logged(pretty: boolean, fields: object, message: string): string {
    let written = '';
    const out = {
      write: (text: string): void => {
        written += text;
      },
    };
    makeLogger('info', pretty, out).info(fields, message);
    return written;
  }

  it.each([true, false])('writes no key that names a field (pretty %s)', (pretty) => {
    const fields = { param: `messages.0.${KEY}`, cause: { [KEY]: KEY } };
    const line = logged(pretty, fields, `${KEY} is not a known field.`);
    expect(line).not.toContain('0123456789abcdef');
    expect(line).toContain('messages.0.sk-[redacted]');
    expect(line).toContain('sk-[redacted] is not a known field.');
  });

  it('escapes control characters on a terminal', () => {
    const evil = 'a\u001b]0;owned\u0007\r\nINFO: forged\u009b2J\u202eb';
    const line = logged(true, { param: evil, err: new Error(evil) }, evil);
    // The logger's own colours stay.
    const colours = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g');
    const rest = line.replace(colours, '').replaceAll('\n', '');
    expect(rest).not.toMatch(/[\p{Cc}\u202e]/u);
    expect(line).toContain('a\\u001b]0;owned\\u0007\\u000d\\u000aINFO: forged\\u009b2J\\u202eb');
  });

  it('cuts a long text on a terminal, and marks the cut', () => {
    const long = 'a'.repeat(1_000_000);
    const line = logged(true, { param: long, err: new Error(long) }, long);
    expect(line).toContain('… and 996000 more characters');
    expect(line.length).toBeLessThan(25_000);
    expect(logged(true, {}, 'a'.repeat(4_000))).toContain('a'.repeat(4_000));
  });

  it('writes a line of JSON if there is no terminal', () => {
    const fields = { param: 'a\u001b\n' };
    expect(JSON.parse(logged(false, fields, 'x'))).toMatchObject({ ...fields, msg: 'x' });
  });
});
