import { createHmac } from 'node:crypto';
import { parseUrl } from '../../common/parse-url.js';
import { keyHeader, type ProviderContext, withoutKey } from '../http/provider-context.js';
import type { UpstreamRequest } from '../http/upstream-request.js';
import type { VendorAuth } from './vendor-file.js';

const TOKEN_SECONDS = 1_800;
/** The vendor's clock may be behind. */
const SKEW_SECONDS = 5;

type Target = Pick<UpstreamRequest, 'path' | 'origin'>;

/** Puts the key of a vendor into its requests, as its file says. */
export class VendorKey {
  constructor(
    private readonly access: ProviderContext,
    private readonly auth: VendorAuth,
  ) {}

  /** The request with the key. Its origin must be one that may get it. */
  sent(target: Target): Target & Pick<UpstreamRequest, 'headers'> {
    const { access, auth } = this;
    switch (auth.in) {
      case 'bearer':
        return { ...target, headers: keyHeader(access, 'authorization', 'Bearer ') };
      case 'header':
        return { ...target, headers: keyHeader(access, auth.name.toLowerCase(), auth.prefix) };
      case 'jwt': {
        const key = access.apiKey ?? '';
        // Newer accounts have a key without a second part, which is sent as it is.
        return key.includes(':')
          ? { ...target, headers: { authorization: `Bearer ${this.token(key)}` } }
          : { ...target, headers: keyHeader(access, 'authorization', 'Bearer ') };
      }
      case 'query': {
        const parameter = `${auth.name}=${encodeURIComponent(access.apiKey ?? '')}`;
        const mark = target.path.includes('?') ? '&' : '?';
        return access.apiKey === undefined
          ? target
          : { ...target, path: `${target.path}${mark}${parameter}` };
      }
    }
  }

  /** The URL without the parameter of the key; undefined where the key stands anywhere else in it. */
  takenFrom(text: string): string | undefined {
    const { access, auth } = this;
    const url = parseUrl(text);
    if (!url) return undefined;
    const isKeyed = auth.in === 'query' && url.searchParams.get(auth.name) === access.apiKey;
    if (isKeyed) url.searchParams.delete(auth.name);
    const href = isKeyed ? url.href : text;
    return withoutKey(access, href) === href ? href : undefined;
  }

  private token(key: string): string {
    const colon = key.indexOf(':');
    const seconds = Math.floor(this.access.clock.nowMs() / 1000);
    const claims = {
      iss: key.slice(0, colon),
      exp: seconds + TOKEN_SECONDS,
      nbf: seconds - SKEW_SECONDS,
    };
    const signed = [{ alg: 'HS256', typ: 'JWT' }, claims]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    const signature = createHmac('sha256', key.slice(colon + 1)).update(signed);
    return `${signed}.${signature.digest('base64url')}`;
  }
}
