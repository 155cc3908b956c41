/** What SIGHUP does once the gateway has started. */
interface Actions {
  /** There are files to read again: `CATALOG_FILE` or those of `VENDORS_DIR`. */
  readonly isReloadable: boolean;
  readonly reload: () => void;
  readonly stop: () => void;
}

/**
 * Handles SIGHUP from the first moment. A signal during the start acts after it. With `CATALOG_FILE` or `VENDORS_DIR` the files
 * are read again. Without them SIGHUP means that the terminal was closed, so the gateway ends.
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

function act({ isReloadable, reload, stop }: Actions): void {
  if (isReloadable) reload();
  else stop();
}
