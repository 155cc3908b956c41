import { createHmac } from 'node:crypto';
import { SystemClock } from '../../common/time/clock.js';
import { asRecord, parseJson } from '../http/json.js';
import { SANDBOX_API_KEY } from '../http/protocol.js';
import type { SandboxExchange } from '../http/sandbox-exchange.js';
import type { TwinAuth } from './twin-file.js';

/**
 * The key of a request, from where the file of the vendor says that it is. Of a signed token it is the sandbox's key, which is both
 * parts of its pair, where that has signed it and it is valid now.
 */
export function keyOfVendor(auth: TwinAuth, exchange: SandboxExchange): string | undefined {
  switch (auth.in) {
    case 'bearer':
      return after('Bearer ', exchange.header('authorization'));
    case 'header':
      return after(auth.prefix ?? '', exchange.header(auth.name.toLowerCase()));
    case 'query':
      return exchange.query.get(auth.name) ?? undefined;
    case 'jwt': {
      const token = after('Bearer ', exchange.header('authorization'));
      return token !== undefined && isSigned(token) ? SANDBOX_API_KEY : undefined;
    }
  }
}

function after(scheme: string, text: string | undefined): string | undefined {
  return text?.startsWith(scheme) === true ? text.slice(scheme.length) : undefined;
}

function isSigned(token: string): boolean {
  const [head = '', claims = '', signature] = token.split('.');
  const expected = createHmac('sha256', SANDBOX_API_KEY).update(`${head}.${claims}`);
  if (signature !== expected.digest('base64url')) return false;
  const { iss, exp, nbf } = asRecord(parseJson(Buffer.from(claims, 'base64url'))) ?? {};
  const seconds = new SystemClock().nowMs() / 1000;
  return iss === SANDBOX_API_KEY && Number(exp) > seconds && Number(nbf) <= seconds;
}
