import type { GuardedRequest, GuardedResponse } from './guarded-exchange.js';

/** Files that this gateway serves itself. Their URLs may be given as input, although they lead to the gateway. */
export abstract class SandboxFiles {
  /** The URL from which the file can be read; undefined for every other URL. */
  abstract fileAt(url: URL): URL | undefined;

  /**
   * Why a refused URL that was meant for one of these files names none, as words that follow the name of its field. Undefined
   * for every other URL.
   */
  abstract refusalOf(url: URL): string | undefined;

  /** Requests the URL that {@link fileAt} returned. Throws the errors of the network. */
  abstract read(file: URL, request: GuardedRequest): Promise<GuardedResponse>;
}
