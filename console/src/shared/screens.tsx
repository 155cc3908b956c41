import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Loading, Problem } from './parts.js';

/** A screen: where it is, its name among the screens, and the file it is in. */
export interface Screen {
  /** A path below the console, as wouter takes it: `/tasks/:id`. */
  readonly path: string;
  /** Its name in the list of screens; a screen without one is reached from others. */
  readonly name?: string;
  /** The first part of the paths that count as inside it; absent: its path. */
  readonly within?: readonly string[];
  readonly load: () => Promise<{ readonly default: ComponentType }>;
}

/** A screen, whose file is loaded when it is opened. */
export function LoadedScreen({ load }: { readonly load: Screen['load'] }) {
  const [screen, setScreen] = useState<{ readonly Shown: ComponentType }>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    let isOpen = true;
    load().then(
      ({ default: Shown }) => {
        if (isOpen) setScreen({ Shown });
      },
      (problem: unknown) => {
        if (isOpen) setError(problem);
      },
    );
    return () => {
      isOpen = false;
    };
  }, [load]);
  if (error !== undefined) return <Problem error={error} />;
  return screen === undefined ? <Loading /> : <screen.Shown />;
}
