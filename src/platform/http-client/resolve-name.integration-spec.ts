import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createSocket, type Socket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { resolveByDns, resolveBySystem } from './resolve-name.js';

const HEADER_BYTES = 12;
const QUESTION_TAIL_BYTES = 5;
const TYPE_A = 1;
const IPV6 = '20010db8000000000000000000000001';

/** The answer to a DNS query with one question: one record of 60 s, or none. */
function dnsAnswer(query: Buffer, type: number, record: Buffer | undefined): Buffer {
  const end = query.indexOf(0, HEADER_BYTES) + QUESTION_TAIL_BYTES;
  const header = Buffer.from(query.subarray(0, HEADER_BYTES));
  header.writeUInt16BE(0x8180, 2);
  header.writeUInt16BE(record === undefined ? 0 : 1, 6);
  header.writeUInt32BE(0, 8);
  const question = query.subarray(HEADER_BYTES, end);
  if (record === undefined) return Buffer.concat([header, question]);
  const fixed = Buffer.from([0xc0, HEADER_BYTES, 0, type, 0, 1, 0, 0, 0, 60, 0, record.length]);
  return Buffer.concat([header, question, fixed, record]);
}

describe('resolveByDns', () => {
  let server: Socket;
  let resolver: Resolver;
  const never = new AbortController().signal;

  beforeEach(async () => {
    server = createSocket('udp4').bind(0, '127.0.0.1');
    await once(server, 'listening');
    server.on('message', (query, { port, address }) => {
      const text = query.toString('latin1');
      if (text.includes('silent')) return;
      const type = query.readUInt16BE(query.indexOf(0, HEADER_BYTES) + 1);
      if (text.includes('half') && type !== TYPE_A) return;
      const ipv6 = text.includes('both') ? Buffer.from(IPV6, 'hex') : undefined;
      const record = type === TYPE_A ? Buffer.from([192, 0, 2, 7]) : ipv6;
      server.send(dnsAnswer(query, type, record), port, address);
    });
    resolver = new Resolver({ timeout: 5_000, tries: 1 });
    resolver.setServers([`127.0.0.1:${server.address().port}`]);
  });
  afterEach(() => {
    server.close();
  });

  it('gives IPv4 and IPv6 addresses together', async () => {
    const addresses = await resolveByDns('both.example', never, resolver);
    expect(addresses).toEqual(['192.0.2.7', '2001:db8::1']);
  });

  it('returns the addresses of one family if the other has none', async () => {
    await expect(resolveByDns('one.example', never, resolver)).resolves.toEqual(['192.0.2.7']);
  });

  it('returns the addresses of one family if a server does not respond for the other', async () => {
    // The resolver of this test itself would give up after five seconds.
    const late = new AbortController();
    const answered = await Promise.race([
      resolveByDns('half.example', late.signal, resolver),
      sleep(3_000),
    ]);
    late.abort();
    expect(answered).toEqual(['192.0.2.7']);
  });

  it('rejects if the signal aborts before a silent server responds', async () => {
    const stop = new AbortController();
    const resolving = resolveByDns('silent.example', stop.signal, resolver);
    stop.abort();
    await expect(resolving).resolves.toEqual([]);
  });
});

describe('resolveBySystem', () => {
  it('resolves the names of the hosts file', async () => {
    const addresses = await resolveBySystem('localhost', new AbortController().signal);
    expect(['127.0.0.1', '::1']).toEqual(expect.arrayContaining([...addresses]));
  });
});
