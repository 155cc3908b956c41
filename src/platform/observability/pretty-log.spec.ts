import { describe, expect, it } from '@jest/globals';
import { stripVTControlCharacters } from 'node:util';
import { loggableError, makeLogger } from './logger.js';

const TWO_ROWS = 160;
const ID = 'f'.repeat(32);
const REQUEST = {
  execution_id: `exec_${ID}`,
  method: 'POST',
  route: '/v1/audio/transcriptions',
  status: 200,
  complete: true,
  address: '127.0.0.1',
  account_id: `acct_${ID}`,
  api_key_id: `key_${ID}`,
  model: 'aud-transcribe-v2',
  charged_microusd: '123456789',
  upstream_ms: 12_345.678,
  duration_ms: 12_349.9,
};
const REFUSAL = { execution_id: `exec_${ID}`, account_id: `acct_${ID}`, model: 'aud-v4' };

/** What a terminal shows of a line, without colours and the time. */
function shown(level: 'info' | 'error', fields: object, message: string): string {
  let written = '';
  makeLogger('info', true, { write: (text) => (written += text) })[level](fields, message);
  return stripVTControlCharacters(written).replace(/^\[\d\d:\d\d:\d\d\] /, '');
}

describe('the log on a terminal', () => {
  it('prints a request in one line of at most two rows of 80 columns', () => {
    const line = shown('info', REQUEST, 'request');
    expect(line).toBe(
      'INFO: POST /v1/audio/transcriptions 200, 12350 ms (provider 12346 ms), aud-transcribe-v2, ' +
        `123456789 micro-USD, exec_${ID}\n`,
    );
    expect('[00:00:00] '.length + line.length).toBeLessThanOrEqual(TWO_ROWS);
  });

  it('prints the path if no route matched, and that a client disconnected', () => {
    const { execution_id, method } = REQUEST;
    const lost = { execution_id, method, route: 'unmatched', path: '/nowhere', status: 404 };
    expect(shown('info', { ...lost, duration_ms: 0.2 }, 'request')).toBe(
      `INFO: POST /nowhere 404, 1 ms, exec_${ID}\n`,
    );
    expect(shown('info', { ...REQUEST, complete: false }, 'request')).toContain(
      '200, the client left, 12350 ms',
    );
  });

  it('prints why a request was refused in the same line', () => {
    const { execution_id, method, route } = REQUEST;
    const refused = { execution_id, method, route, status: 400, duration_ms: 2 };
    const why = { code: 'invalid_request', param: 'speed', reason: 'speed must be at most 4.' };
    expect(shown('info', { ...refused, ...why }, 'request')).toBe(
      `INFO: POST ${route} 400, 2 ms, exec_${ID}: speed must be at most 4. (invalid_request, speed)\n`,
    );
  });

  it('prints an error response in one line with its code, its parameter and the provider message', () => {
    const failure = Object.assign(new Error('provider sandbox: http_error, 500'), {
      name: 'ProviderError',
    });
    const fields = { ...REFUSAL, code: 'provider_http_error', cause: loggableError(failure) };
    expect(shown('error', { ...fields, param: null }, 'The provider failed.')).toBe(
      'ERROR: The provider failed. (provider_http_error, provider sandbox: http_error, 500)\n',
    );
    expect(shown('info', { ...REFUSAL, code: 'invalid_request', param: 'voice' }, 'No.')).toBe(
      'INFO: No. (invalid_request, voice)\n',
    );
  });

  it('shows the stack of an error of our own in lines', () => {
    const fields = {
      ...REFUSAL,
      code: 'internal_error',
      cause: loggableError(new Error('broken')),
    };
    const lines = shown('error', fields, 'The gateway failed.').split('\n');
    expect(lines[0]).toContain('ERROR: The gateway failed. (internal_error)');
    expect(lines.filter((line) => /^ +at /.test(line)).length).toBeGreaterThan(1);
  });

  it('does not change other lines', () => {
    expect(shown('info', { in_flight: 0 }, 'draining')).toBe('INFO: draining {"in_flight":0}\n');
  });
});
