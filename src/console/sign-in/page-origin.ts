import { Inject, Injectable } from '@nestjs/common';
import ipaddr from 'ipaddr.js';
import type { Request } from 'express';
import { parseUrl } from '../../common/parse-url.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/config/gateway-config.js';

/** Headers by which a proxy says that the request is not its own. */
const FORWARDED_HEADERS = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
];

/** How a browser reached the page, which decides on the cookie of its session. */
export interface PageOrigin {
  /** Such as `https://gateway.example`. */
  readonly origin: string;
  readonly isHttps: boolean;
}

/**
 * Finds out how a browser reached the page. HTTPS: `PUBLIC_URL` is https, and the proxy that `TRUST_PROXY` names, if it sent
 * the request, says `X-Forwarded-Proto: https`. Plain HTTP: only from and to a loopback address, without a proxy between.
 */
@Injectable()
export class PageOrigins {
  private readonly publicOrigin: string | undefined;

  constructor(@Inject(GATEWAY_CONFIG) private readonly config: GatewayConfig) {
    const url = parseUrl(config.publicUrl ?? '');
    this.publicOrigin = url?.protocol === 'https:' ? url.origin : undefined;
  }

  /** Undefined: neither way, so that nobody may sign in. */
  of(request: Request): PageOrigin | undefined {
    const { publicOrigin } = this;
    if (publicOrigin !== undefined && (!isFromProxy(request) || request.protocol === 'https')) {
      return { origin: publicOrigin, isHttps: true };
    }
    // A proxy on this machine that sends no header would make each browser look like one of this machine.
    if (publicOrigin !== undefined && isFromProxy(request)) return undefined;
    const host = request.headers.host ?? '';
    return isLocal(request) ? { origin: `http://${host}`, isHttps: false } : undefined;
  }

  /** Why nobody may sign in, as a sentence that says what to set; null where {@link of} finds a way. */
  refusalOf(request: Request): string | null {
    if (this.of(request) !== undefined) return null;
    const local = `Plain HTTP works only on the machine itself, at http://127.0.0.1:${this.config.port}/console/.`;
    if (this.publicOrigin !== undefined) {
      return `Signing in needs HTTPS. The proxy that TRUST_PROXY names must send X-Forwarded-Proto: https with each request. ${local}`;
    }
    return `Signing in needs HTTPS. Set PUBLIC_URL to the https address of this gateway, and TRUST_PROXY to the address of the proxy before it, which must send X-Forwarded-Proto: https. ${local}`;
  }
}

/** Whether a proxy that `TRUST_PROXY` names sent the request. */
function isFromProxy({ app, socket }: Request): boolean {
  const trusts = app.get('trust proxy fn') as (address: string, hop: number) => boolean;
  return trusts(socket.remoteAddress ?? '', 0);
}

/** The name of the host is checked too: a page of another site may let its own name lead to a loopback address. */
function isLocal({ socket, headers }: Request): boolean {
  if (FORWARDED_HEADERS.some((name) => headers[name] !== undefined)) return false;
  const name = parseUrl(`http://${headers.host ?? ''}`)?.hostname ?? '';
  const isLocalName = name === 'localhost' || isLoopback(name.replace(/^\[(.*)\]$/, '$1'));
  return isLocalName && isLoopback(socket.remoteAddress) && isLoopback(socket.localAddress);
}

const isLoopback = (address = ''): boolean =>
  ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
