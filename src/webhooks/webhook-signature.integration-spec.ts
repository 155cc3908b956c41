import { describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { systemProgram } from '../../test/support/system-program.js';
import { signatureOf } from './webhook-signature.js';

interface Vector {
  readonly about: string;
  readonly secret: string;
  readonly timestamp: number;
  readonly body_base64: string;
  readonly v1: string;
}

const { vectors } = JSON.parse(readFileSync('test/samples/webhook-signatures.json', 'utf8')) as {
  vectors: Vector[];
};

const openssl = systemProgram('openssl');

/** The signature that the OpenSSL command line makes of the same bytes. */
function opensslHmac(program: string, secret: string, message: Buffer): string {
  const key = Buffer.from(secret).toString('hex');
  const options = ['dgst', '-sha256', '-mac', 'HMAC', '-macopt', `hexkey:${key}`];
  const output = execFileSync(program, options, { input: message }).toString();
  return output.trim().split('= ')[1] ?? '';
}

describe('signatureOf', () => {
  it('returns the example value of the API document (HOOK-11)', () => {
    expect(signatureOf('0123456789abcdef', 1_700_000_000, Buffer.from('{"id":"task_1"}'))).toBe(
      't=1700000000,v1=88fff9dcbb8e249f606d66cb6316c6ac2fd2739d92797c4a93d67d5c8e4d9811',
    );
  });

  it.each(vectors)(
    '$about: equals the published vector and the result of OpenSSL (HOOK-09, HOOK-10)',
    (vector) => {
      const body = Buffer.from(vector.body_base64, 'base64');
      const { secret, timestamp, v1 } = vector;
      expect(signatureOf(secret, timestamp, body)).toBe(`t=${timestamp},v1=${v1}`);
      if (openssl === undefined) return;
      const message = Buffer.concat([Buffer.from(`${timestamp}.`), body]);
      expect(opensslHmac(openssl, secret, message)).toBe(v1);
    },
  );
});
