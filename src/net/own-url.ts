import { type AddressInfo, isIPv6 } from 'node:net';

/** Where a gateway listens, or will. */
interface Listening {
  readonly host: string;
  readonly port: number;
}

/** Where others reach this gateway: `PUBLIC_URL`, or where it listens. Without a slash at the end. */
export class OwnUrl {
  private url: string;

  constructor(
    private readonly publicUrl: string | undefined,
    private readonly listening: Listening,
  ) {
    this.url = (publicUrl ?? urlOf(listening)).replace(/\/+$/, '');
  }

  /** Such as `https://gateway.example` or `http://127.0.0.1:3000`. */
  get href(): string {
    return this.url;
  }

  /** Says where it really listens, which differs from the configured place where the port was left to the system. */
  listensAt({ address, port }: AddressInfo): void {
    const isEverywhere = address === '0.0.0.0' || address === '::';
    const host = isEverywhere ? '127.0.0.1' : this.listening.host;
    if (this.publicUrl === undefined) this.url = urlOf({ host, port });
  }
}

function urlOf({ host, port }: Listening): string {
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}
