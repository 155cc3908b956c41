import { trimTrailingSlashes } from '../common/parse-url.js';
import { EXAMPLE_RECORDING } from '../common/example-media.js';
import { EgressRules } from '../platform/http-client/egress-rules.js';
import { SsrfSafeDialer } from '../platform/http-client/ssrf-safe-dialer.js';
import type { GuardedRequest, GuardedResponse } from '../platform/http-client/guarded-exchange.js';
import { SandboxFiles } from '../platform/http-client/sandbox-files.js';
import { portOf } from '../platform/http-client/public-url.js';

/** Path of the sandbox's media on the gateway's port. */
export const SANDBOX_MEDIA_PATH = '/sandbox/media';
const FILE_NAME = /^[\w-]{1,64}\.[a-z0-9]{1,8}$/i;

/**
 * The files for which the sandbox returns URLs. Clients read them on the gateway's port, below the published address;
 * the gateway reads them from the sandbox. The sandbox listens on loopback, but this class gives no access to any other
 * loopback address.
 */
export class SandboxMedia extends SandboxFiles {
  private readonly dialer: SsrfSafeDialer;
  private published: URL | undefined;

  /** `upstreamUrl`: base of the files at the sandbox. Undefined when no sandbox runs. */
  constructor(private readonly upstreamUrl: string | undefined) {
    super();
    const upstream = upstreamUrl === undefined ? undefined : new URL(upstreamUrl);
    const rules = upstream && EgressRules.parse(`${upstream.hostname}:${portOf(upstream)}`);
    this.dialer = new SsrfSafeDialer({ rules: rules ?? EgressRules.none });
  }

  /** Whether a sandbox runs. */
  get isServed(): boolean {
    return this.upstreamUrl !== undefined;
  }

  /** Sets the address at which clients reach the gateway; returns the base of the files there. */
  publishAt(gatewayUrl: string): string {
    const { origin, pathname } = new URL(gatewayUrl);
    this.published = new URL(`${origin}${trimTrailingSlashes(pathname)}${SANDBOX_MEDIA_PATH}`);
    return this.published.href;
  }

  /** The sandbox's URL of the file with this name. Undefined when the name is invalid or no sandbox runs. */
  fileNamed(name: string): URL | undefined {
    if (this.upstreamUrl === undefined || !FILE_NAME.test(name)) return undefined;
    return new URL(`${this.upstreamUrl}/${name}`);
  }

  /** The sandbox's URL of a file with this published URL. Undefined for every other URL. */
  fileAt(url: URL): URL | undefined {
    const base = this.published;
    if (base?.origin !== url.origin || !url.pathname.startsWith(`${base.pathname}/`))
      return undefined;
    return this.fileNamed(url.pathname.slice(base.pathname.length + 1));
  }

  /** For a URL with another host, or with a name that no file can have. Undefined where no sandbox runs. */
  rejectionOf({ pathname }: URL): string | undefined {
    const base = this.published;
    if (this.upstreamUrl === undefined || !base || !pathname.startsWith(`${base.pathname}/`))
      return undefined;
    return `must name a file of the sandbox below ${base.href}/, such as ${EXAMPLE_RECORDING}`;
  }

  /** Requests a URL that {@link fileNamed} or {@link fileAt} returned. Throws the errors of the network. */
  read(file: URL, request: GuardedRequest): Promise<GuardedResponse> {
    return this.dialer.request(file, request);
  }
}
