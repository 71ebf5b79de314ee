//! Circles between the modules of a crate.
//!
//! Two modules of one parent are compared: `a::b` that names `crate::a::c`, or `super::c`, needs
//! it. Modules of tests do not count.

use super::{Place, Source, group, rust};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Path of a module from its crate.
type Module = Vec<String>;

/// A path that a module names, with the line.
struct Named {
    from: Module,
    path: Module,
    file: String,
    line: usize,
}

/// Modules of a crate, the paths that they name, and the modules of tests.
#[derive(Default)]
struct Crate {
    modules: BTreeSet<Module>,
    named: Vec<Named>,
    tests: BTreeSet<Module>,
}

/// A module's needs among its siblings, each with the place that names it.
type Needs<'a> = BTreeMap<&'a [String], BTreeMap<&'a [String], &'a Named>>;

/// Adds the modules that need each other, by way of others or without.
pub fn check(sources: &[(&Source, TokenStream)], places: &mut Vec<Place>) {
    let mut crates = BTreeMap::<String, Crate>::new();
    for (source, tokens) in sources {
        if let Some((name, module)) = module_of(&source.path) {
            let of_crate = crates.entry(name).or_default();
            of_crate.modules.insert(module.clone());
            of_crate.visit(&source.path, &module, tokens.clone());
        }
    }
    for (name, of_crate) in &crates {
        let needs = of_crate.needs();
        for module in needs.keys() {
            let Some(circle) = circle(&needs, module) else { continue };
            let names: Vec<String> = circle.iter().map(|module| module.join("::")).collect();
            let Named { file, line, .. } = needs[module][circle[1]];
            let group = group(&format!("{name}/src/"));
            let (file, line) = (file.clone(), *line);
            places.push(Place { rule: "modules_in_circles", group, file, line, text: names.join(" needs ") });
        }
    }
}

/// Crate and module of a library's file; none for another file.
fn module_of(path: &str) -> Option<(String, Module)> {
    let (name, inner) = path.split_once("/src/")?;
    let mut module: Module = inner.strip_suffix(".rs")?.split('/').map(str::to_owned).collect();
    match module.last().map(String::as_str) {
        Some("main") => return None,
        Some("mod") => drop(module.pop()),
        Some("lib") if module.len() == 1 => module.clear(),
        _ => {}
    }
    let is_binary = module.first().is_some_and(|first| first == "bin");
    (name.starts_with("crates/") && !is_binary).then(|| (name.to_owned(), module))
}

impl Crate {
    fn visit(&mut self, file: &str, module: &Module, stream: TokenStream) {
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        let mut is_of_tests = false;
        for (at, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Group(attribute) if rust::is_attribute(&tokens, at) => {
                    is_of_tests |= attribute.stream().to_string().replace(' ', "") == "cfg(test)";
                }
                TokenTree::Group(inner) => {
                    let is_body = inner.delimiter() == Delimiter::Brace;
                    match at.checked_sub(2).map(|first| [&tokens[first], &tokens[first + 1]]) {
                        _ if is_of_tests => {}
                        Some([TokenTree::Ident(keyword), TokenTree::Ident(name)])
                            if is_body && keyword == "mod" =>
                        {
                            let inline = [module.as_slice(), &[name.to_string()]].concat();
                            self.visit(file, &inline, inner.stream());
                        }
                        _ => self.visit(file, module, inner.stream()),
                    }
                    is_of_tests &= !is_body;
                }
                TokenTree::Ident(keyword) if keyword == "mod" && is_of_tests => {
                    if let Some(TokenTree::Ident(name)) = tokens.get(at + 1) {
                        self.tests.insert([module.as_slice(), &[name.to_string()]].concat());
                    }
                }
                TokenTree::Ident(root) if !is_of_tests => {
                    let begin = match root.to_string().as_str() {
                        "crate" => Module::new(),
                        "self" => module.clone(),
                        "super" if module.is_empty() => continue,
                        "super" => module[..module.len() - 1].to_vec(),
                        _ => continue,
                    };
                    let mut paths = Vec::new();
                    follow(&tokens[at + 1..], begin, &mut paths);
                    let line = root.span().start().line;
                    let named = |path| Named { from: module.clone(), path, file: file.to_owned(), line };
                    self.named.extend(paths.into_iter().map(named));
                }
                TokenTree::Punct(end) if end.as_char() == ';' => is_of_tests = false,
                _ => {}
            }
        }
    }

    /// Needs of the modules among their siblings.
    fn needs(&self) -> Needs<'_> {
        let mut needs = Needs::new();
        for named in &self.named {
            let common = named.from.iter().zip(&named.path).take_while(|(one, other)| one == other).count();
            let (Some(from), Some(to)) = (named.from.get(..=common), named.path.get(..=common)) else {
                continue;
            };
            let is_of_tests = (1..=named.from.len()).any(|length| self.tests.contains(&named.from[..length]));
            if self.modules.contains(to) && !self.tests.contains(to) && !is_of_tests {
                needs.entry(from).or_default().entry(to).or_insert(named);
            }
        }
        needs
    }
}

/// Collects the paths behind `crate`, `self` or `super`: one, or several in braces.
fn follow(tokens: &[TokenTree], begin: Module, paths: &mut Vec<Module>) {
    let is_colon =
        |token: Option<&TokenTree>| matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
    if !(is_colon(tokens.first()) && is_colon(tokens.get(1))) {
        paths.push(begin);
        return;
    }
    match tokens.get(2) {
        Some(TokenTree::Ident(name)) if name == "super" => {
            let parent = begin[..begin.len().saturating_sub(1)].to_vec();
            follow(&tokens[3..], parent, paths);
        }
        Some(TokenTree::Ident(name)) => {
            let inner = [begin, vec![name.to_string()]].concat();
            follow(&tokens[3..], inner, paths);
        }
        Some(TokenTree::Group(several)) => {
            let several: Vec<TokenTree> = several.stream().into_iter().collect();
            let is_comma =
                |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',');
            for one in several.split(is_comma) {
                if let Some(TokenTree::Ident(name)) = one.first() {
                    follow(&one[1..], [begin.as_slice(), &[name.to_string()]].concat(), paths);
                }
            }
        }
        _ => paths.push(begin),
    }
}

/// The shortest way from a module back to itself.
fn circle<'a>(needs: &Needs<'a>, module: &'a [String]) -> Option<Vec<&'a [String]>> {
    let mut ways = VecDeque::from([vec![module]]);
    let mut seen = BTreeSet::new();
    while let Some(way) = ways.pop_front() {
        for next in needs.get(way[way.len() - 1]).into_iter().flat_map(BTreeMap::keys) {
            if *next == module {
                return Some([way.as_slice(), &[module]].concat());
            }
            if seen.insert(*next) {
                ways.push_back([way.as_slice(), &[*next]].concat());
            }
        }
    }
    None
}
