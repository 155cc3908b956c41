/** What SIGHUP does once the gateway has started. */
interface Actions {
  readonly catalogFile: string | undefined;
  readonly reload: () => void;
  readonly stop: () => void;
}

/**
 * Handles SIGHUP from the first moment. A signal during the start acts after it. With `CATALOG_FILE` the file is read
 * again. Without it SIGHUP means that the terminal was closed, so the gateway ends.
 */
export class SighupHandler {
  private actions: Actions | undefined;
  private isDue = false;

  constructor() {
    process.on('SIGHUP', () => {
      if (this.actions) act(this.actions);
      else this.isDue = true;
    });
  }

  /** Acts on the signal from now on, and on one that arrived before. */
  listen(actions: Actions): void {
    this.actions = actions;
    if (this.isDue) act(actions);
  }
}

function act({ catalogFile, reload, stop }: Actions): void {
  if (catalogFile === undefined) stop();
  else reload();
}
