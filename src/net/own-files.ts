import type { GuardedRequest, GuardedResponse } from './guarded-exchange.js';

/** Files that this gateway serves itself; a URL of one may be given as input although it leads to the gateway. */
export abstract class OwnFiles {
  /** Where the file of a URL really lies; undefined for every other URL. */
  abstract fileAt(url: URL): URL | undefined;

  /** One request for a file that {@link fileAt} found. Throws what the network throws. */
  abstract read(file: URL, request: GuardedRequest): Promise<GuardedResponse>;
}
