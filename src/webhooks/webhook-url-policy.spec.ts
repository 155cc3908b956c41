import { describe, expect, it } from '@jest/globals';
import type { ApiFamily } from '../common/errors/api-family.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { EgressRules } from '../platform/http-client/egress-rules.js';
import { SsrfSafeDialer } from '../platform/http-client/ssrf-safe-dialer.js';
import { GatewayUrl } from '../platform/http-client/gateway-url.js';
import { WebhookUrlPolicy } from './webhook-url-policy.js';

const ADDRESSES: Readonly<Record<string, readonly string[]>> = {
  'example.com': ['93.184.216.34'],
  'inside.example.com': ['10.0.0.7'],
  'both.example.com': ['93.184.216.34', '127.0.0.1'],
};
const PRIVATE = [
  'localhost',
  '127.0.0.1',
  '127.1',
  '2130706433',
  '10.1.2.3',
  '192.168.0.10',
  '172.16.5.5',
  '169.254.169.254',
  '100.64.0.1',
  '[::1]',
  '[fd00::1]',
  '[::ffff:10.0.0.1]',
  'printer.local',
  'inside.example.com',
  'both.example.com',
];

function targets(egressAllow = '', publicUrl = 'https://api.shim.example/v'): WebhookUrlPolicy {
  const rules = EgressRules.parse(egressAllow);
  const dialer = new SsrfSafeDialer({
    rules,
    resolve: (name) => Promise.resolve(ADDRESSES[name] ?? []),
  });
  const own = new GatewayUrl(publicUrl, { host: '127.0.0.1', port: 0 });
  // The port was left to the system.
  own.listensAt({ address: '127.0.0.1', family: 'IPv4', port: 3000 });
  return new WebhookUrlPolicy(dialer, rules, own);
}

async function faultOf(
  url: string,
  surface: ApiFamily,
  by = targets(),
): Promise<string | undefined> {
  try {
    await by.resolve(url, surface);
    return undefined;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return `${error.code} ${error.param ?? ''}`;
  }
}

describe('WebhookUrlPolicy', () => {
  it('accepts https for audio tasks, and http only for videos (HOOK-26, HOOK-28)', async () => {
    for (const surface of ['dubbing', 'song', 'video'] as const) {
      expect(await faultOf('https://example.com/hook', surface)).toBeUndefined();
    }
    expect(await faultOf('http://example.com/hook', 'video')).toBeUndefined();
    expect(await faultOf('http://example.com/hook', 'dubbing')).toBe(
      'invalid_task_command webhook',
    );
    expect(await faultOf('http://example.com/hook', 'song')).toBe('invalid_task_command webhook');
  });

  it.each(PRIVATE)('refuses %s (HOOK-29, HOOK-31, G-80)', async (host) => {
    expect(await faultOf(`https://${host}/hook`, 'video')).toBe('invalid_request webhook');
    expect(await faultOf(`https://${host}/hook`, 'dubbing')).toBe('invalid_task_command webhook');
  });

  it.each([
    'https://api.shim.example/hook',
    'https://API.shim.example:8443/other',
    'https://api.shim.example./hook',
  ])('refuses its own host: %s (HOOK-30, HOOK-31, G-80)', async (url) => {
    expect(await faultOf(url, 'video')).toBe('invalid_request webhook');
    expect(await faultOf(url, 'song')).toBe('invalid_task_command webhook');
  });

  it('accepts a name that does not resolve yet, because each attempt resolves it again', async () => {
    expect(await faultOf('https://soon.example.com/hook', 'dubbing')).toBeUndefined();
  });

  it('accepts a private host in EGRESS_ALLOW, with http too, but never its own', async () => {
    const open = targets('127.0.0.1');
    expect(await faultOf('http://127.0.0.1:9000/hook', 'dubbing', open)).toBeUndefined();
    expect(await faultOf('http://127.0.0.1:3000/hook', 'dubbing', open)).toBe(
      'invalid_task_command webhook',
    );
    expect(await faultOf('http://127.0.0.2:9000/hook', 'dubbing', open)).toBe(
      'invalid_task_command webhook',
    );
  });
});
