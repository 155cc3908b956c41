import type { React } from './swagger-react.js';

/** A map of Immutable.js, of which Swagger UI's state consists, as far as it is read here. */
interface ImmutableMap {
  get(name: string): unknown;
  getIn(path: readonly string[]): ImmutableMap | undefined;
  filter(holds: (value: ImmutableMap, name: string) => boolean): ImmutableMap;
  toJS(): unknown;
}

interface Responses {
  readonly responses: ImmutableMap;
  readonly path: string;
  readonly method: string;
  readonly specSelectors: {
    specResolvedSubtree(path: readonly string[]): ImmutableMap | undefined;
  };
}

interface Sample {
  readonly label: string;
  readonly source: string;
}
type ErrorResponses = Readonly<Record<string, { readonly description: string }>>;

/* eslint-disable max-lines-per-function -- The browser gets the text of this one function and of nothing else. */
/**
 * Plugin of Swagger UI that shows an operation's samples before its responses, and its errors as one table in place of an
 * example per error. It runs in the browser, to which its text is sent, so it can use nothing else of this file.
 */
export function swaggerOperationParts() {
  const parts = (Original: unknown, { React }: { readonly React: React }) => {
    const { createElement, useMemo } = React;
    const isError = (response: ImmutableMap, status: string) =>
      /^[45]/.test(status) && response.getIn(['content', 'application/json', 'examples']) != null;
    const folded = (name: string, title: string, ...children: unknown[]) =>
      createElement(
        'details',
        { className: name, key: title },
        createElement('summary', null, title),
        ...children,
      );
    /** A line of a response's description is "`code`: what it means". */
    const rowsOf = (errors: ErrorResponses) =>
      Object.entries(errors).flatMap(([status, { description }]) =>
        description.split('<br>').map((line) => {
          const [, code = '', meaning = line] = /^`(\w+)`: (.*)$/s.exec(line) ?? [];
          return [status, code, meaning] as const;
        }),
      );
    const errorTable = (errors: ErrorResponses) => {
      const rows = rowsOf(errors);
      if (rows.length === 0) return null;
      const cells = (tag: string, texts: readonly string[]) =>
        texts.map((text, at) => createElement(tag, { key: at }, text));
      const head = createElement('tr', null, ...cells('th', ['Status', 'Code', 'Meaning']));
      const body = rows.map((row, at) => createElement('tr', { key: at }, ...cells('td', row)));
      const table = createElement(
        'table',
        null,
        createElement('thead', null, head),
        createElement('tbody', null, ...body),
      );
      return folded('operation-errors', `Errors (${String(rows.length)})`, table);
    };
    return (properties: Responses) => {
      const { responses, path, method, specSelectors } = properties;
      const operation = specSelectors.specResolvedSubtree(['paths', path, method]);
      const samples = operation?.get('x-codeSamples') as ImmutableMap | undefined;
      const shown = useMemo(
        () => ({
          errors: responses.filter(isError).toJS() as ErrorResponses,
          rest: responses.filter((response, status) => !isError(response, status)),
          samples: (samples?.toJS() ?? []) as Sample[],
        }),
        [responses, samples],
      );
      return createElement(
        'div',
        null,
        createElement(
          'div',
          { className: 'operation-samples' },
          ...shown.samples.map(({ label, source }) =>
            folded('operation-sample', label, createElement('pre', null, source)),
          ),
        ),
        createElement(Original, { ...properties, responses: shown.rest }),
        errorTable(shown.errors),
      );
    };
  };
  return { wrapComponents: { responses: parts } };
}
