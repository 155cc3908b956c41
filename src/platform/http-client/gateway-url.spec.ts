import { describe, expect, it } from '@jest/globals';
import { GatewayUrl } from './gateway-url.js';

const at = (address: string, port = 4711) => ({ address, port, family: 'IPv4' });

describe('the own URL', () => {
  it.each([
    ['127.0.0.1', 3000, 'http://127.0.0.1:3000'],
    ['::1', 3000, 'http://[::1]:3000'],
    ['gateway.local', 80, 'http://gateway.local:80'],
  ])('is where the gateway is to listen: %s', (host, port, href) => {
    expect(new GatewayUrl(undefined, { host, port }).href).toBe(href);
  });

  it.each([
    ['127.0.0.1', '127.0.0.1', 'http://127.0.0.1:4711'],
    ['localhost', '127.0.0.1', 'http://localhost:4711'],
    ['0.0.0.0', '0.0.0.0', 'http://127.0.0.1:4711'],
    ['::', '::', 'http://127.0.0.1:4711'],
    ['::1', '::1', 'http://[::1]:4711'],
  ])('is where it really listens: %s at %s', (host, address, href) => {
    const url = new GatewayUrl(undefined, { host, port: 0 });
    url.listensAt(at(address));
    expect(url.href).toBe(href);
  });

  it('is the public one, wherever it listens, without a slash at the end', () => {
    const url = new GatewayUrl('https://api.example/shim//', { host: '127.0.0.1', port: 0 });
    url.listensAt(at('127.0.0.1'));
    expect(url.href).toBe('https://api.example/shim');
    expect(url.pathPrefix).toBe('/shim');
  });

  it.each([undefined, 'https://api.example', 'https://api.example/'])(
    'has no path before its own as %s',
    (publicUrl) => {
      expect(new GatewayUrl(publicUrl, { host: '127.0.0.1', port: 3_000 }).pathPrefix).toBe('');
    },
  );
});
