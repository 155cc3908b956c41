import type { React } from './swagger-react.js';

declare const sessionStorage: {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
};
declare const document: {
  querySelector(
    selector: string,
  ): { focus(options: { readonly preventScroll: boolean }): void; scrollTop: number } | null;
};

interface Authorization {
  readonly authSelectors: { authorized(): { toJS(): object } };
  readonly authActions: { restoreAuthorization(state: { readonly authorized: object }): void };
}

/**
 * Plugin of Swagger UI that keeps the keys until the tab is closed, and puts the cursor into the first field of
 * "Authorize", which is the API key. The page's own `persistAuthorization` keeps them in the browser without an end. It runs
 * in the browser, to which its text is sent, so it can use nothing else of this file.
 */
export function swaggerSession() {
  const KEPT = 'shim-authorized';
  const keep =
    (_original: unknown, { authSelectors }: Authorization) =>
    () => {
      sessionStorage.setItem(KEPT, JSON.stringify(authSelectors.authorized().toJS()));
    };
  const restore =
    (loaded: (config: unknown) => unknown, { authActions }: Authorization) =>
    (config: unknown) => {
      loaded(config);
      const kept = sessionStorage.getItem(KEPT);
      if (kept !== null)
        authActions.restoreAuthorization({ authorized: JSON.parse(kept) as object });
    };
  const firstFieldFirst = (Original: unknown, { React }: { readonly React: React }) =>
    function Popup(properties: object) {
      // Each field of the dialog asks for the focus; the last one would get it.
      React.useEffect(() => {
        document.querySelector('.modal-ux input')?.focus({ preventScroll: true });
        // On a small screen the words above the field would be out of sight.
        const content = document.querySelector('.modal-ux-content');
        if (content) content.scrollTop = 0;
        return undefined;
      }, []);
      return React.createElement(Original, properties);
    };
  return {
    statePlugins: {
      auth: { wrapActions: { persistAuthorizationIfNeeded: keep } },
      configs: { wrapActions: { loaded: restore } },
    },
    wrapComponents: { authorizationPopup: firstFieldFirst },
  };
}
