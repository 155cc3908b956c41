import type { GuardedRequest, GuardedResponse } from './guarded-exchange.js';

/** Files that this gateway serves itself. Their URLs are allowed as input, although they lead to the gateway. */
export abstract class SandboxFiles {
  /** The URL from which the file can be read; undefined for every other URL. */
  abstract fileAt(url: URL): URL | undefined;

  /**
   * Why a rejected URL that looks like one of these files is not one, as words that follow the name of its field.
   * Undefined for every other URL.
   */
  abstract rejectionOf(url: URL): string | undefined;

  /** Requests the URL that {@link fileAt} returned. Throws the errors of the network. */
  abstract read(file: URL, request: GuardedRequest): Promise<GuardedResponse>;
}
