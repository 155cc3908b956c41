import { trimTrailingSlashes } from '../../common/parse-url.js';
import { type AddressInfo, isIPv6 } from 'node:net';

/** The place where a gateway listens or will listen. */
interface Listening {
  readonly host: string;
  readonly port: number;
}

/**
 * The URL at which others reach this gateway: `PUBLIC_URL`, or the place where it listens. It has no slash at the end.
 */
export class GatewayUrl {
  private listeningUrl: string;

  constructor(
    private readonly publicUrl: string | undefined,
    private readonly listening: Listening,
  ) {
    this.listeningUrl = urlOf(listening);
  }

  /** Such as `https://gateway.example` or `http://127.0.0.1:3000`. */
  get href(): string {
    return trimTrailingSlashes(this.publicUrl ?? this.listeningUrl);
  }

  /** The prefix of each path of this gateway in a URL, such as `/shim`; usually empty. */
  get pathPrefix(): string {
    const { pathname } = new URL(this.href);
    return trimTrailingSlashes(pathname);
  }

  /** All URLs of this gateway. With a `PUBLIC_URL`, the listening address is a second one. */
  get all(): readonly URL[] {
    return [new URL(this.href), new URL(this.listeningUrl)];
  }

  /** Sets the port on which it listens, which is known only then if the system chose the port. */
  listensAt({ address, port }: AddressInfo): void {
    const isEverywhere = address === '0.0.0.0' || address === '::';
    const host = isEverywhere ? '127.0.0.1' : this.listening.host;
    this.listeningUrl = urlOf({ host, port });
  }
}

function urlOf({ host, port }: Listening): string {
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}
