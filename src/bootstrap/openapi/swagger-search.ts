import type { React } from './swagger-react.js';

declare const document: { querySelector(selector: string): { placeholder: string } | null };

/** A list or map of Immutable.js, of which Swagger UI's state consists, as far as it is read here. */
interface Tags {
  map(change: (tag: Tag, name: string) => Tag): Tags;
  filter(holds: (tag: Tag) => boolean): Tags;
}
interface Tag {
  update(name: 'operations', change: (operations: Operations) => Operations): Tag;
  get(name: 'operations'): Operations;
}
interface Operations {
  readonly size: number;
  filter(holds: (operation: Operation) => boolean): Operations;
}
interface Operation {
  get(name: string): string;
  getIn(path: readonly string[]): string | undefined;
}

/**
 * Plugin of Swagger UI whose search finds operations by their path, id, summary, description and group. The page's own finds
 * groups by their names only, and its field says so. It runs in the browser, to which its text is sent, so it can use nothing else of this file.
 */
export function swaggerSearch() {
  const opsFilter = (tags: Tags, phrase: string) => {
    const words = phrase.toLowerCase().split(/\s+/);
    const matches = (operation: Operation, tag: string) => {
      const parts = ['operationId', 'summary', 'description'].map((name) =>
        operation.getIn(['operation', name]),
      );
      const text = [tag, operation.get('method'), operation.get('path'), ...parts]
        .join(' ')
        .toLowerCase();
      return words.every((word) => text.includes(word));
    };
    return tags
      .map((tag, name) =>
        tag.update('operations', (operations) =>
          operations.filter((operation) => matches(operation, name)),
        ),
      )
      .filter((tag) => tag.get('operations').size > 0);
  };
  const saysWhatItFinds = (Original: unknown, { React }: { readonly React: React }) =>
    function Filter(properties: object) {
      React.useEffect(() => {
        const field = document.querySelector('.operation-filter-input');
        if (field) field.placeholder = 'Search: path, name, words of the description';
        return undefined;
      });
      return React.createElement(Original, properties);
    };
  return { fn: { opsFilter }, wrapComponents: { FilterContainer: saysWhatItFinds } };
}
