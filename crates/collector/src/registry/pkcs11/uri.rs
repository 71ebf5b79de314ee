//! The URI of a key in a PKCS#11 token (RFC 7512), as far as a key-encryption key needs it.

use super::Pkcs11Error;
use percent_encoding::percent_decode_str;
use std::fmt;
use std::path::PathBuf;

/// `pkcs11:token=wattseal;object=kek-1?module-path=/usr/lib/softhsm/libsofthsm2.so&pin-source=file:/etc/wattseal/pin`.
/// No secret is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pkcs11Uri {
    text: String,
    /// The token's label.
    pub(super) token: String,
    /// Its serial number, where two have the same label.
    pub(super) serial: Option<String>,
    /// The key's label.
    pub(super) object: String,
    pub(super) module: PathBuf,
    pub(super) pin_file: PathBuf,
}

impl Pkcs11Uri {
    /// # Errors
    /// [`Pkcs11Error::Uri`]; a PIN that is in the text is not in the error.
    pub fn parse(text: &str) -> Result<Pkcs11Uri, Pkcs11Error> {
        let wrong = |what: String| Pkcs11Error::Uri(what);
        let rest =
            text.strip_prefix("pkcs11:").ok_or_else(|| wrong("it does not begin with pkcs11:".into()))?;
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (mut token, mut serial, mut object, mut module, mut pin) = (None, None, None, None, None);
        let parts = |text: &'_ str, by| {
            text.split(by).filter(|part| !part.is_empty()).map(str::to_owned).collect::<Vec<_>>()
        };
        for part in parts(path, ';').into_iter().chain(parts(query, '&')) {
            let (name, value) =
                part.split_once('=').ok_or_else(|| wrong(format!("'{part}' has no value")))?;
            let place = match name {
                "token" => &mut token,
                "serial" => &mut serial,
                "object" => &mut object,
                "module-path" => &mut module,
                "pin-source" => &mut pin,
                "type" if value == "secret-key" => continue,
                "pin-value" => {
                    return Err(wrong("a PIN is in it, which others could read: put that into a file, and name it with pin-source".into()));
                }
                other => {
                    return Err(wrong(format!(
                        "'{other}' is not taken: there are token, serial, object, and, after ?, module-path and pin-source"
                    )));
                }
            };
            let value = percent_decode_str(value)
                .decode_utf8()
                .map_err(|_| wrong(format!("'{name}' is no UTF-8")))?;
            if place.replace(value.into_owned()).is_some() {
                return Err(wrong(format!("'{name}' is there twice")));
            }
        }
        let needed = |name: &str, value: Option<String>| {
            value.filter(|value| !value.is_empty()).ok_or_else(|| wrong(format!("'{name}' is missing")))
        };
        let file = |name: &str, value: Option<String>| {
            let path = PathBuf::from(needed(name, value)?);
            // Neither the process's folder nor a loader's search path may matter.
            if path.is_absolute() {
                Ok(path)
            } else {
                Err(wrong(format!("'{name}' has to be an absolute path")))
            }
        };
        Ok(Pkcs11Uri {
            text: text.to_owned(),
            token: needed("token", token)?,
            serial,
            object: needed("object", object)?,
            module: file("module-path", module)?,
            pin_file: file(
                "pin-source",
                pin.map(|pin| pin.strip_prefix("file:").map(str::to_owned).unwrap_or(pin)),
            )?,
        })
    }
}

impl fmt::Display for Pkcs11Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHERE: &str = "module-path=/m.so&pin-source=file:/etc/pin";

    #[test]
    fn uri_attributes_are_read() {
        let text = format!("pkcs11:token=my%20token;object=kek-1;type=secret-key;serial=7?{WHERE}");
        let uri = Pkcs11Uri::parse(&text).expect("a URI");
        assert_eq!(
            (uri.token.as_str(), uri.object.as_str(), uri.serial.as_deref()),
            ("my token", "kek-1", Some("7"))
        );
        assert_eq!((uri.module.to_str(), uri.pin_file.to_str()), (Some("/m.so"), Some("/etc/pin")));
        assert_eq!(uri.to_string(), text);
        let plain =
            Pkcs11Uri::parse("pkcs11:object=k;token=t?pin-source=/etc/pin&module-path=/m.so").expect("a URI");
        assert_eq!((plain.pin_file.to_str(), plain.serial), (Some("/etc/pin"), None));
    }

    #[test]
    fn malformed_uri_is_refused_without_showing_the_pin() {
        for (text, why) in [
            ("token=t;object=k", "begin with pkcs11:"),
            ("pkcs11:object=k?WHERE", "'token' is missing"),
            ("pkcs11:token=;object=k?WHERE", "'token' is missing"),
            ("pkcs11:token=t?WHERE", "'object' is missing"),
            ("pkcs11:token=t;object=k", "'module-path' is missing"),
            ("pkcs11:token=t;object=k?module-path=/m.so", "'pin-source' is missing"),
            ("pkcs11:token=t;object=k?module-path=m.so&pin-source=/p", "absolute"),
            ("pkcs11:token=t;object=k?module-path=/m.so&pin-source=|ask", "absolute"),
            ("pkcs11:token=t;object=k?WHERE&pin-value=4711", "pin-source"),
            ("pkcs11:token=t;objekt=k?WHERE", "'objekt' is not taken"),
            ("pkcs11:token=t;token=u;object=k?WHERE", "twice"),
            ("pkcs11:token=%ff;object=k?WHERE", "UTF-8"),
            ("pkcs11:token=t;object?WHERE", "no value"),
            ("pkcs11:token=t;type=cert;object=k?WHERE", "'type' is not taken"),
        ] {
            let error = Pkcs11Uri::parse(&text.replace("WHERE", WHERE)).expect_err(text).to_string();
            assert!(error.contains(why) && !error.contains("4711"), "{text}: {error}");
        }
    }
}
