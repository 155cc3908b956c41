import { once } from 'node:events';
import { connect as dialTcp, isIP, type Socket } from 'node:net';
import { connect as startTls } from 'node:tls';
import { Deadline } from './deadline.js';
import type { EgressRules } from './egress-rules.js';
import { requestOver, type GuardedRequest, type GuardedResponse } from './guarded-exchange.js';
import { isPublicAddress } from './public-address.js';
import { hostOf, portOf } from './public-url.js';
import { resolveByDns, resolveBySystem, type ResolveName } from './resolve-name.js';

const MAX_ANSWERS = 16;
const ADDRESS_ATTEMPT_MS = 1_500;
/**
 * Bytes that a TLS connection may always receive: a handshake has at most half of it. Beyond it, a third of the bytes
 * must be data.
 */
const FREE_TLS_BYTES = 262_144;
const TLS_BYTES_PER_BYTE = 3;
const TLS_WATCH_MS = 250;

/** Opens a TCP connection to one of `addresses`, which are tried in order. The socket may still be connecting. */
type DialTcp = (addresses: readonly string[], port: number) => Socket;

interface GuardedDialerOptions {
  /** Private hosts and addresses that the operator permits. */
  readonly rules: EgressRules;
  /** Replaces the name resolver. */
  readonly resolve?: ResolveName;
  /** Replaces the TCP connection. */
  readonly dial?: DialTcp;
  /** PEM of the only trusted authority. It replaces those of the process (Node's own and `NODE_EXTRA_CA_CERTS`). */
  readonly ca?: string;
}

/** The host has no address, or an address that is neither public nor permitted by the operator. */
export class AddressRefusedError extends Error {
  override readonly name = 'AddressRefusedError';
}

/**
 * Connects to URLs that callers or providers chose (decisions G-43, G-80, G-81). A name is resolved once, and every
 * address must be permitted. The connection goes to those addresses only, and its remote address is checked before a
 * byte is sent. One connection per request, HTTP/1.1, certificates verified, no proxy, no cookies, redirects not
 * followed. `validatePublicUrl` checks the text of a URL before.
 */
export class SsrfSafeDialer {
  private readonly resolve: ResolveName;
  private readonly dial: DialTcp;

  constructor(private readonly options: GuardedDialerOptions) {
    // Names in hosts files and search domains are private. They are looked up only if a permitted private host needs
    // it.
    this.resolve = options.resolve ?? (options.rules.isEmpty ? resolveByDns : resolveBySystem);
    this.dial = options.dial ?? dialFirst;
  }

  /**
   * The addresses a connection to `url` would use. Throws AddressRefusedError when one of them is not permitted,
   * the resolver's error when the name does not resolve, the signal's reason when it aborts.
   */
  async addressesOf(url: URL, signal: AbortSignal): Promise<readonly string[]> {
    const host = hostOf(url);
    const addresses =
      isIP(host) === 0 ? await abortable(this.resolve(host, signal), signal) : [host];
    const isPermitted = addresses.every((address) => this.permits(url, address));
    if (addresses.length === 0) throw noAddress();
    if (addresses.length > MAX_ANSWERS || !isPermitted) throw new AddressRefusedError();
    return addresses;
  }

  /** One request without following redirects. Throws AddressRefusedError or the errors of the network. */
  async request(url: URL, request: GuardedRequest): Promise<GuardedResponse> {
    const socket = await this.connect(url, request.limits.connectMs, request.signal);
    return requestOver(socket, url, request);
  }

  private async connect(url: URL, timeoutMs: number, outer: AbortSignal): Promise<Socket> {
    const deadline = new Deadline(timeoutMs, outer);
    let socket: Socket | undefined;
    try {
      const addresses = await this.addressesOf(url, deadline.signal);
      socket = this.dial(addresses, portOf(url)).on('error', ignore);
      await once(socket, 'connect', { signal: deadline.signal });
      if (!this.permits(url, socket.remoteAddress ?? '')) throw new AddressRefusedError();
      return url.protocol === 'https:' ? await this.secure(socket, url, deadline.signal) : socket;
    } catch (error) {
      socket?.destroy();
      throw error;
    } finally {
      deadline.clear();
    }
  }

  private async secure(socket: Socket, url: URL, signal: AbortSignal): Promise<Socket> {
    const host = hostOf(url);
    const secured = startTls({
      socket,
      host,
      servername: isIP(host) === 0 ? host : '',
      ALPNProtocols: ['http/1.1'],
      rejectUnauthorized: true,
      ...(this.options.ca !== undefined && { ca: this.options.ca }),
    }).on('error', ignore);
    endFloods(secured, socket);
    await once(secured, 'secureConnect', { signal });
    return secured;
  }

  private permits(url: URL, address: string): boolean {
    const { rules } = this.options;
    const port = portOf(url);
    return isPublicAddress(address) || rules.opens(address, port) || rules.opens(hostOf(url), port);
  }
}

const ignore = (): void => undefined;

/**
 * Ends a TLS connection whose server sends little data in many records, or endless session tickets and key updates.
 * They cost CPU and never become data.
 */
function endFloods(secured: Socket, socket: Socket): void {
  const watch = setInterval(() => {
    if (socket.bytesRead > FREE_TLS_BYTES + secured.bytesRead * TLS_BYTES_PER_BYTE) {
      secured.destroy(new Error('the server sent too much that is no data'));
    }
  }, TLS_WATCH_MS);
  secured.once('close', () => {
    clearInterval(watch);
  });
}

/** The same error as the system's resolver. */
function noAddress(): Error {
  return Object.assign(new Error('the name has no address'), { code: 'ENOTFOUND' });
}

/** Node tries the checked addresses one after another. No name is looked up again. */
const dialFirst: DialTcp = (addresses, port) =>
  dialTcp({
    host: 'checked.invalid',
    port,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
    lookup: (_name, _options, callback) => {
      callback(
        null,
        addresses.map((address) => ({ address, family: isIP(address) })),
      );
    },
  }).on('error', ignore);

/** Rejects with the signal's reason if it aborts before the promise settles. */
function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      reject(signal.reason as Error);
    };
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', abort);
    });
  });
}
