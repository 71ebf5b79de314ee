// The small pieces that every page is made of.

import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { ApiError } from '../api';
import * as show from '../format';

interface CardProps {
  title: string;
  /** Right of the title. */
  aside?: ComponentChildren;
  children: ComponentChildren;
  class?: string;
}

export function Card({ title, aside, children, class: extra = '' }: CardProps): JSX.Element {
  const id = useId();
  return (
    <section class={`card ${extra}`} aria-labelledby={id}>
      <div class="card-head">
        <h2 id={id}>{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  );
}

interface TileProps {
  name: string;
  value: ComponentChildren;
  note?: ComponentChildren;
}

export function Tile({ name, value, note }: TileProps): JSX.Element {
  return (
    <div class="tile">
      <dt>{name}</dt>
      <dd>
        <span class="tile-value">{value}</span>
        {note !== undefined && <span class="tile-note">{note}</span>}
      </dd>
    </div>
  );
}

export function Figure({ parts }: { parts: show.Scaled }): JSX.Element {
  return (
    <>
      {parts.figure}
      {parts.figure !== '–' && <span class="unit">{'\u00a0' + parts.unit}</span>}
    </>
  );
}

interface SegmentsProps<T extends string> {
  name: string;
  options: readonly { value: T; name: string }[];
  value: T;
  onChange: (value: T) => void;
}

/** One of a few: radio buttons that look like one switch. */
export function Segments<T extends string>({ name, options, value, onChange }: SegmentsProps<T>): JSX.Element {
  const group = useId();
  return (
    <fieldset class="segments">
      <legend class="hidden">{name}</legend>
      {options.map((option) => (
        <label key={option.value}>
          <input
            type="radio"
            name={group}
            value={option.value}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
          />
          <span>{option.name}</span>
        </label>
      ))}
    </fieldset>
  );
}

export type Tone = 'good' | 'warn' | 'bad' | 'plain' | 'busy';

export function Badge({ tone, children }: { tone: Tone; children: ComponentChildren }): JSX.Element {
  return <span class={`badge ${tone}`}>{children}</span>;
}

export function Loading({ what }: { what: string }): JSX.Element {
  // Only what takes a while is said, so that quick loads do not flicker.
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 200);
    return () => clearTimeout(timer);
  }, []);
  return <p class="state">{late ? `Loading ${what} …` : '\u00a0'}</p>;
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }): JSX.Element {
  return (
    <div class="state">
      <p class="state-title">{title}</p>
      {children !== undefined && <p>{children}</p>}
    </div>
  );
}

export function Failed({ error, retry }: { error: ApiError; retry?: () => void }): JSX.Element {
  return (
    <div class="note bad" role="alert">
      <p>
        <strong>{error.message}</strong> {error.hint}
      </p>
      {retry !== undefined && (
        <button type="button" class="small" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** A time as how long ago; the time itself on pointing at it. */
export function Ago({ at_s, now_s }: { at_s: number | null; now_s: number }): JSX.Element {
  if (at_s === null) return <span>never</span>;
  return (
    <time dateTime={new Date(at_s * 1000).toISOString()} title={show.dateTime(at_s)}>
      {show.ago(at_s, now_s)}
    </time>
  );
}

export function At({ at_s }: { at_s: number | null }): JSX.Element {
  if (at_s === null) return <span>–</span>;
  return <time dateTime={new Date(at_s * 1000).toISOString()}>{show.dateTime(at_s)}</time>;
}

interface ConfirmProps {
  title: string;
  confirm: string;
  children: ComponentChildren;
  onConfirm: () => void;
  onCancel: () => void;
}

/** Asks before something that cannot be taken back. The browser's dialog keeps the focus inside and gives it back. */
export function Confirm({ title, confirm, children, onConfirm, onCancel }: ConfirmProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onCancel();
      }}
    >
      <h2 id={id}>{title}</h2>
      <div class="dialog-text">{children}</div>
      <div class="buttons">
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
        <button type="button" class="danger" onClick={onConfirm}>
          {confirm}
        </button>
      </div>
    </dialog>
  );
}

interface TableProps {
  caption: string;
  head: readonly string[];
  /** Built when it is opened. */
  rows: () => readonly (readonly string[])[];
}

const MOST_ROWS = 1000;

/** The figures behind a plot. */
export function DataTable({ caption, head, rows }: TableProps): JSX.Element {
  const [open, setOpen] = useState(false);
  const all = open ? rows() : [];
  const shown = all.slice(-MOST_ROWS);
  return (
    <details class="data" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Figures as a table</summary>
      {open && (
        <>
          {all.length > shown.length && (
            <p class="quiet">The last {show.count(shown.length)} of {show.count(all.length)} rows.</p>
          )}
          <div class="table-scroll" tabIndex={0} role="region" aria-label={caption}>
            <table>
              <caption class="hidden">{caption}</caption>
              <thead>
                <tr>
                  {head.map((name, i) => (
                    <th key={name} scope="col" class={i > 0 ? 'figure' : ''}>
                      {name}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {shown.map((row, i) => (
                  <tr key={i}>
                    {row.map((cell, column) =>
                      column === 0 ? (
                        <th key={column} scope="row">
                          {cell}
                        </th>
                      ) : (
                        <td key={column} class="figure">
                          {cell}
                        </td>
                      ),
                    )}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </details>
  );
}
