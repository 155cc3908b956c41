import { type AddressInfo, isIPv6 } from 'node:net';

/** Where a gateway listens, or will. */
interface Listening {
  readonly host: string;
  readonly port: number;
}

/** Where others reach this gateway: `PUBLIC_URL`, or where it listens. Without a slash at the end. */
export class OwnUrl {
  private listeningUrl: string;

  constructor(
    private readonly publicUrl: string | undefined,
    private readonly listening: Listening,
  ) {
    this.listeningUrl = urlOf(listening);
  }

  /** Such as `https://gateway.example` or `http://127.0.0.1:3000`. */
  get href(): string {
    return (this.publicUrl ?? this.listeningUrl).replace(/\/+$/, '');
  }

  /** Every way to this gateway: behind a `PUBLIC_URL`, the place where it listens is a second one. */
  get all(): readonly URL[] {
    return [new URL(this.href), new URL(this.listeningUrl)];
  }

  /** Says where it really listens, which differs from the configured place where the port was left to the system. */
  listensAt({ address, port }: AddressInfo): void {
    const isEverywhere = address === '0.0.0.0' || address === '::';
    const host = isEverywhere ? '127.0.0.1' : this.listening.host;
    this.listeningUrl = urlOf({ host, port });
  }
}

function urlOf({ host, port }: Listening): string {
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}
