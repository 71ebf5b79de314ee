//! Rules that need a Rust file's tokens: long functions, names of tests, retired words.

use super::{DISPATCH_LOOPS, Place, SETTINGS, Source, group};
use proc_macro2::{Delimiter, Group, Spacing, TokenStream, TokenTree};

const FUNCTION_LINES_MAX: usize = 80;
const TEST_NAME_LETTERS_MAX: usize = 59;
const PRONOUNS: [&str; 9] =
    ["who", "whose", "whoever", "what", "whatever", "which", "where", "those", "nobody"];
/// Keywords before the name of an item.
const ITEMS: [&str; 9] = ["fn", "struct", "enum", "union", "trait", "type", "const", "static", "mod"];

/// Tokens of a file, without its comments.
pub fn parse(source: &Source) -> TokenStream {
    source.text.parse().unwrap_or_else(|error| panic!("{}: {error}", source.path))
}

/// Adds the places of a file that break a rule.
pub fn check(source: &Source, tokens: &TokenStream, places: &mut Vec<Place>) {
    visit(source, tokens.clone(), Delimiter::None, places);
}

fn visit(source: &Source, stream: TokenStream, within: Delimiter, places: &mut Vec<Place>) {
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    let mut is_test = false;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(inner) if is_attribute(&tokens, at) => is_test |= is_test_attribute(inner),
            TokenTree::Group(inner) => visit(source, inner.stream(), inner.delimiter(), places),
            TokenTree::Ident(name) => {
                let name = name.to_string();
                if let ("fn", Some(TokenTree::Ident(function))) = (name.as_str(), tokens.get(at + 1)) {
                    let function = function.to_string();
                    if std::mem::take(&mut is_test) {
                        check_test_name(source, token, &function, places);
                    }
                    check_length(source, &tokens[at..], &function, places);
                }
                if is_item(&tokens, at) || (within == Delimiter::Brace && is_field(&tokens, at)) {
                    check_word(source, token, &name, places);
                }
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// Returns true if the group is the bracket of `#[..]` or `#![..]`.
pub fn is_attribute(tokens: &[TokenTree], at: usize) -> bool {
    let is = |back: usize, wanted: char| {
        let before = at.checked_sub(back).map(|at| &tokens[at]);
        matches!(before, Some(TokenTree::Punct(punct)) if punct.as_char() == wanted)
    };
    is(1, '#') || (is(1, '!') && is(2, '#'))
}

/// Returns true for `#[test]`, `#[tokio::test]` and the like, with or without arguments.
fn is_test_attribute(attribute: &Group) -> bool {
    let path = attribute.stream().into_iter().take_while(|token| !matches!(token, TokenTree::Group(_)));
    let last = path.filter(|token| matches!(token, TokenTree::Ident(_))).last();
    last.is_some_and(|name| name.to_string() == "test")
}

fn is_item(tokens: &[TokenTree], at: usize) -> bool {
    let before = at.checked_sub(1).map(|at| &tokens[at]);
    matches!(before, Some(TokenTree::Ident(keyword)) if ITEMS.iter().any(|item| keyword == item))
}

/// Returns true for the name before a single colon, which in braces is a field's.
fn is_field(tokens: &[TokenTree], at: usize) -> bool {
    matches!(tokens.get(at + 1), Some(TokenTree::Punct(colon))
        if colon.as_char() == ':' && colon.spacing() == Spacing::Alone)
}

fn check_test_name(source: &Source, at: &TokenTree, name: &str, places: &mut Vec<Place>) {
    let mut add = |rule| places.push(place(rule, source, at, name.to_owned()));
    if name.split('_').next().is_some_and(|first| PRONOUNS.contains(&first)) {
        add("test_names_with_a_pronoun");
    }
    if name.len() > TEST_NAME_LETTERS_MAX {
        add("test_names_of_60_letters");
    }
}

/// Checks the lines of the function that begins with these tokens; a declaration has no body.
fn check_length(source: &Source, tokens: &[TokenTree], name: &str, places: &mut Vec<Place>) {
    let mut rest = tokens.iter();
    let body = rest.find_map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(Some(group)),
        TokenTree::Punct(punct) if punct.as_char() == ';' => Some(None),
        _ => None,
    });
    let Some(Some(body)) = body else { return };
    let lines = body.span_close().end().line + 1 - tokens[0].span().start().line;
    if lines <= FUNCTION_LINES_MAX {
        return;
    }
    let text = format!("{name} has {lines} lines");
    let function = format!("{} {name}", source.path);
    if SETTINGS.dispatch_loops.contains_key(&function) {
        places.push(Place { group: function, ..place(DISPATCH_LOOPS, source, &tokens[0], text) });
    } else {
        places.push(place("functions_over_80_lines", source, &tokens[0], text));
    }
}

fn check_word(source: &Source, at: &TokenTree, name: &str, places: &mut Vec<Place>) {
    for retired in SETTINGS.retired.iter().filter(|retired| retired.word == name) {
        if let Some(group) = retired.group(&source.path) {
            let text = format!("{name}, better: {}", retired.better);
            places.push(Place { group, ..place("retired_words", source, at, text) });
        }
    }
}

fn place(rule: &'static str, source: &Source, at: &TokenTree, text: String) -> Place {
    let line = at.span().start().line;
    Place { rule, group: group(&source.path), file: source.path.clone(), line, text }
}
