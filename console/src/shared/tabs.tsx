import { Link } from 'wouter-preact';

/** Links between screens that are about one subject. `of`: the path and the name of each; `open`: the path of this one. */
export function Tabs<Path extends string>(props: {
  readonly name: string;
  readonly of: readonly (readonly [path: Path, name: string])[];
  readonly open: Path;
}) {
  return (
    <nav class="tabs" aria-label={props.name}>
      {props.of.map(([path, name]) => (
        <Link href={path} aria-current={props.open === path ? 'page' : undefined}>
          {name}
        </Link>
      ))}
    </nav>
  );
}

const RECORDS = [
  ['/calls', 'Calls'],
  ['/tasks', 'Tasks'],
] as const;

/** Between the lists of calls and of tasks. */
export const RecordTabs = ({ open }: { readonly open: (typeof RECORDS)[number][0] }) => (
  <Tabs name="Kinds of work" of={RECORDS} open={open} />
);
